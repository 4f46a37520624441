"""Times as records hold them: milliseconds since 1970, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def moment_of_millis(millis: int) -> datetime:
    """The time in UTC.

    Raises:
      OverflowError: it lies beyond the years 1 to 9999.
    """
    return EPOCH + millis * _MILLISECOND


def millis_of_moment(moment: datetime) -> int:
    """The whole milliseconds since 1970 of a time with an offset, rounded down."""
    return (moment - EPOCH) // _MILLISECOND
