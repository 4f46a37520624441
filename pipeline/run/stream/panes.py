"""Names of the files of a stream, each of which is written only once."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from msgspec import Struct

from goodgain.pipeline.results.formats import FORMATS
from goodgain.transforms.core.records.epoch import millis_of_moment, moment_of_millis
from goodgain.transforms.core.streaming.event_window import window_start

_FIRST = millis_of_moment(datetime(1, 1, 1, tzinfo=UTC))
_LAST = millis_of_moment(datetime(9999, 12, 31, tzinfo=UTC))
_WRITTEN = "%Y%m%dT%H%M%S"
_UNDATED = "undated"
_SUFFIXES = "|".join(re.escape(file_format.suffix) for file_format in FORMATS.values())
_NAME = re.compile(
    rf"part-(?P<window>[0-9T.]+Z|{_UNDATED})-(?P<shard>[0-9]+)-of-(?P<shards>[0-9]+)"
    rf"-pane-(?P<number>[0-9]+)-(?P<attempt>[0-9a-f]+)(?P<suffix>{_SUFFIXES})"
)


class Pane(Struct, frozen=True, order=True):
    """Some rows of a dataset that were written together.

    Attributes:
      window: start of their window of event time, in milliseconds; None if it is beyond the
        calendar.
      number: number of the write of this shard, from 0.
      attempt: hexadecimal digits that differ if an engine repeats a write, or a stream starts over.
    """

    window: int | None
    shard: int
    shards: int
    number: int
    attempt: str

    def file_name(self, suffix: str) -> str:
        """The name of its file."""
        return (
            f"part-{_window_text(self.window)}-{self.shard:05d}-of-{self.shards:05d}"
            f"-pane-{self.number:06d}-{self.attempt}{suffix}"
        )


def pane_of(file_name: str) -> Pane | None:
    """The pane of a file by its name; None for files that no stream wrote."""
    match = _NAME.fullmatch(file_name)
    if match is None:
        return None
    shard, shards, number = (int(match[name]) for name in ("shard", "shards", "number"))
    return Pane(_window_of(match["window"]), shard, shards, number, match["attempt"])


def find_dated_window(millis: int, length: int) -> int | None:
    """Start of the window of `length` ms that contains an event; None beyond the calendar."""
    start = window_start(millis, length)
    return start if _FIRST <= start <= _LAST else None


def _window_text(window: int | None) -> str:
    if window is None:
        return _UNDATED
    moment = moment_of_millis(window)
    return f"{moment.year:04d}{moment:%m%dT%H%M%S}.{moment.microsecond // 1_000:03d}Z"


def _window_of(text: str) -> int | None:
    if text == _UNDATED:
        return None
    moment = datetime.strptime(text, _WRITTEN + ".%fZ").replace(tzinfo=UTC)
    return millis_of_moment(moment)
