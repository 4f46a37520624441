"""Ends a stream, and decides which timers still take effect (SPEC 7)."""

from __future__ import annotations


class StreamEnd:
    """Decides when the sources of a stream end, and which timers take effect from then on.

    When a source ends, the engine moves the watermark to the end of time, and every timer fires. In
    a stream that will be resumed this must not close all conversations: timers set for later than
    the last real watermark must do nothing, and their records are read again at the next start.

    This class never stops a source, and every timer takes effect, for streams that end with their
    engine. Beam copies it to every worker, so a subclass that can be stopped must be pickled by
    reference (`__reduce__`), and its sources and timers must run in its process.

    Example: see `WindowedMeans`.
    """

    def is_stop_requested(self) -> bool:
        """Whether sources must stop taking input and end."""
        return False

    def begin_draining(self, final_watermark_ms: int) -> None:
        """Called by a source right before it ends, with its last real watermark in ms."""

    def is_due(self, deadline_ms: int) -> bool:
        """Whether a timer set for `deadline_ms` of event time may take effect when it fires."""
        return True


WITH_ENGINE = StreamEnd()
