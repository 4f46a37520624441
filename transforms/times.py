"""Beam's timestamps: from and to milliseconds since 1970, and the end of the global window."""

from __future__ import annotations

from typing import Any

from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue

_MICROS_PER_MILLI = 1_000


def millis_of(timestamp: Timestamp) -> int:
    """A Beam timestamp in whole milliseconds, rounded down."""
    return int(timestamp.micros // _MICROS_PER_MILLI)


def timestamp_of(millis: int) -> Timestamp:
    """A time in milliseconds as a Beam timestamp."""
    return Timestamp(micros=millis * _MICROS_PER_MILLI)


def stamp_at_end_of_global_window(value: Any) -> WindowedValue:
    """An element with the last timestamp of the global window, to emit from `finish_bundle`."""
    window = GlobalWindow()
    return WindowedValue(value, window.max_timestamp(), (window,))
