"""Write each record of a stream, as a call or as rejected, to its own file."""

import json
from pathlib import Path

import apache_beam as beam

from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.scoring.payload import unpack


class WriteCalls(beam.DoFn):
    """Writes the time of each call and the event time of its payload, in milliseconds."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def process(self, keyed: tuple[str, bytes], timestamp=beam.DoFn.TimestampParam) -> None:
        for call in unpack([keyed[1]]).calls:
            times = [call.timestamp, timestamp.micros // 1000]
            _write(self._folder, f"{keyed[0]}-{call.iteration}", times)


class WriteRejected(beam.DoFn):
    """Writes the fields of a rejected record, with its event time in milliseconds."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def process(self, row: RejectedRecord, timestamp=beam.DoFn.TimestampParam) -> None:
        content = [row.source, row.reason, row.payload, timestamp.micros // 1000]
        _write(self._folder, row.position, content)


def _write(folder: Path, name: str, content: object) -> None:
    temporary = folder / f".{name}"
    temporary.write_text(json.dumps(content))
    temporary.rename(folder / f"{name}.json")
