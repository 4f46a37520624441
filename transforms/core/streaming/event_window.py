"""Windows of event time (SPEC 7)."""


def window_start(event_time: int, window: int) -> int:
    """The start of the window of `window` ms with a time; windows are aligned to the epoch."""
    return event_time - event_time % window
