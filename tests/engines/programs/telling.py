"""What became of each record of a stream, in a file of its own."""

import json
from pathlib import Path

import apache_beam as beam

from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.payload import unpack


class WriteCalls(beam.DoFn):
    """Writes the times of calls and when their payloads are given, in milliseconds."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def process(self, keyed: tuple[str, bytes], timestamp=beam.DoFn.TimestampParam) -> None:
        for call in unpack([keyed[1]]).calls:
            told = [call.timestamp, timestamp.micros // 1000]
            _write(self._folder, f"{keyed[0]}-{call.iteration}", told)


class WriteRejected(beam.DoFn):
    """Writes what tells a rejected record, with its event time in milliseconds."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def process(self, row: RejectedRecord, timestamp=beam.DoFn.TimestampParam) -> None:
        told = [row.source, row.reason, row.payload, timestamp.micros // 1000]
        _write(self._folder, row.position, told)


def _write(folder: Path, name: str, told: object) -> None:
    aside = folder / f".{name}"
    aside.write_text(json.dumps(told))
    aside.rename(folder / f"{name}.json")
