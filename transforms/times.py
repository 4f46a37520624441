"""Converts between milliseconds since 1970 and Beam's timestamps."""

from __future__ import annotations

from apache_beam.utils.timestamp import Timestamp

_MICROS = 1_000  # of a millisecond


def millis_of(timestamp: Timestamp) -> int:
    """A Beam timestamp in whole milliseconds, rounded down."""
    return int(timestamp.micros // _MICROS)


def timestamp_of(millis: int) -> Timestamp:
    """A time in milliseconds as a Beam timestamp."""
    return Timestamp(micros=millis * _MICROS)
