"""Times as the producers of traces write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OFFSETS = {
    minutes: timezone(timedelta(minutes=minutes)) for minutes in (-480, -300, 60, 120, 330, 540)
}
OFFSETS = tuple(_OFFSETS)


def iso(millis: int) -> str:
    """ISO 8601 in UTC with a final Z, whole seconds unless there are milliseconds."""
    moment = _EPOCH + timedelta(milliseconds=millis)
    if millis % 1000:
        return moment.isoformat(timespec="milliseconds")[:-6] + "Z"
    return moment.isoformat()[:-6] + "Z"


def in_offset(text: str, minutes: int) -> str:
    """A time from `iso`, in another offset (one of `OFFSETS`)."""
    return datetime.fromisoformat(text).astimezone(_OFFSETS[minutes]).isoformat()
