"""Turns positions into keyed rows: a stateful DoFn with a timer, then windows of rows.

The key and the event time of position p of an endless sequence follow from p alone. So the expected
output is known, and a test can distinguish lost, duplicated and corrupted rows.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import apache_beam as beam
from apache_beam.coders import BytesCoder
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import (
    BagStateSpec,
    ReadModifyWriteStateSpec,
    TimerSpec,
    on_timer,
)
from apache_beam.transforms.window import FixedWindows, TimestampedValue
from apache_beam.utils.timestamp import Timestamp

MILLISECONDS_PER_POSITION = 10
# Each block of 200 positions has 50 keys, which alternate, with 4 positions each.
POSITIONS_PER_BLOCK = 200
KEYS_PER_BLOCK = 50
GAP_MILLISECONDS = 1000
WINDOW_SECONDS = 1

Row = tuple[str, list[int]]


def key_of(position: int) -> str:
    """The key of a position: its block and its number among the block's keys."""
    return f"{position // POSITIONS_PER_BLOCK}-{position % KEYS_PER_BLOCK}"


def event_time(position: int) -> Timestamp:
    """The event time of a position."""
    return Timestamp(micros=position * MILLISECONDS_PER_POSITION * 1000)


def at_event_time(position: int) -> TimestampedValue:
    """A position at its event time."""
    return TimestampedValue(position, event_time(position))


def expected_rows(positions: int) -> dict[int, list[Row]]:
    """The rows of the first `positions` positions by the start of their window in seconds."""
    keys: dict[str, list[int]] = {}
    for position in range(positions):
        keys.setdefault(key_of(position), []).append(position)
    windows: dict[int, list[Row]] = {}
    for key, held in keys.items():
        closed = held[-1] * MILLISECONDS_PER_POSITION + GAP_MILLISECONDS
        start = closed // 1000 // WINDOW_SECONDS * WINDOW_SECONDS
        windows.setdefault(start, []).append((key, held))
    return {start: sorted(rows) for start, rows in windows.items()}


def written_rows(folder: Path) -> dict[int, list[Row]]:
    """The rows that `RowsOfPositions` wrote to `folder`, by the start of their window."""
    return {
        int(path.stem): [(key, held) for key, held in json.loads(path.read_text())]
        for path in folder.glob("*.json")
    }


def lost_rows(folder: Path, positions: int) -> Counter[str]:
    """The expected rows that are missing in `folder`."""
    return _each_row(expected_rows(positions)) - _each_row(written_rows(folder))


def wrong_rows(folder: Path, positions: int) -> Counter[str]:
    """The unexpected rows in `folder`: duplicated, corrupted, or in the wrong window."""
    return _each_row(written_rows(folder)) - _each_row(expected_rows(positions))


def _each_row(windows: dict[int, list[Row]]) -> Counter[str]:
    return Counter(f"{at} {key} {held}" for at, rows in windows.items() for key, held in rows)


class CollectPositions(beam.DoFn):
    """Collects the positions of a key and emits them as one row once no more arrive."""

    POSITIONS = BagStateSpec("positions", BytesCoder())
    LAST = ReadModifyWriteStateSpec("last", BytesCoder())
    QUIET = TimerSpec("quiet", TimeDomain.WATERMARK)

    def process(
        self,
        element: tuple[str, int],
        positions=beam.DoFn.StateParam(POSITIONS),
        last=beam.DoFn.StateParam(LAST),
        quiet=beam.DoFn.TimerParam(QUIET),
    ) -> None:
        position = element[1]
        positions.add(str(position).encode())
        latest = max(position, int(last.read() or -1))
        last.write(str(latest).encode())
        quiet.set(event_time(latest) + GAP_MILLISECONDS / 1000)

    @on_timer(QUIET)
    def close(
        self,
        key=beam.DoFn.KeyParam,
        positions=beam.DoFn.StateParam(POSITIONS),
        last=beam.DoFn.StateParam(LAST),
    ) -> Iterator[Row]:
        yield key, sorted(int(position) for position in positions.read())
        positions.clear()
        last.clear()


class WriteWindow(beam.DoFn):
    """Writes the rows of each window to its own file; a retry replaces the file."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def process(
        self, element: tuple[str, Iterable[Row]], window=beam.DoFn.WindowParam
    ) -> Iterator[str]:
        target = self._folder / f"{int(window.start.micros // 1_000_000):06d}.json"
        temporary = target.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(sorted(element[1])))
        os.replace(temporary, target)
        yield target.name


class RowsOfPositions(beam.PTransform):
    """Positions with event times -> one JSON file of rows for each window, in `folder`."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = folder

    def expand(self, positions: beam.PCollection) -> beam.PCollection:
        return (
            positions
            | "Key" >> beam.Map(add_key).with_output_types(tuple[str, int])
            | "Collect" >> beam.ParDo(CollectPositions()).with_output_types(tuple[str, list[int]])
            | "Window" >> beam.WindowInto(FixedWindows(WINDOW_SECONDS))
            | "OneKey" >> beam.Map(under_one_key).with_output_types(tuple[str, Row])
            | "Gather" >> beam.GroupByKey()
            | "Write" >> beam.ParDo(WriteWindow(self._folder))
        )


def add_key(position: int) -> tuple[str, int]:
    """A position with its key."""
    return key_of(position), position


def position_of_record(record: tuple[bytes | None, bytes | None]) -> int:
    """The position in a Kafka record's value."""
    return int(record[1] or b"")


def under_one_key(row: Row) -> tuple[str, Row]:
    """A row with the key that all rows share, so that windows close one after the other."""
    return "all", row
