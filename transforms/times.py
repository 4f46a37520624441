"""Points in time as Good Gain counts them, in milliseconds since 1970, and as Beam does."""

from __future__ import annotations

from apache_beam.utils.timestamp import Timestamp

_MICROS = 1_000  # of a millisecond


def millis_of(timestamp: Timestamp) -> int:
    """A point in time of Beam in whole milliseconds, what is beyond cut off."""
    return int(timestamp.micros // _MICROS)


def timestamp_of(millis: int) -> Timestamp:
    """A point in time in milliseconds as Beam's."""
    return Timestamp(micros=millis * _MICROS)
