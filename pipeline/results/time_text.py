"""Times as formats without a type for them write them: ISO 8601 in UTC with milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def iso_of_millis(millis: int | None) -> str | None:
    """The text of a time in milliseconds since 1970; None for none."""
    if millis is None:
        return None
    return (_EPOCH + timedelta(milliseconds=millis)).isoformat(timespec="milliseconds")


def millis_of_time(time: datetime) -> int:
    """Milliseconds since 1970."""
    return (time - _EPOCH) // timedelta(milliseconds=1)
