"""The bare loops that runs are measured against: decode every record of a file, nothing else.

`python -m tests.bench.bare FILE` runs the loop that fits the file and does nothing more.
"""

import sys
from pathlib import Path

import fastavro
import msgspec
import pyarrow.parquet


def decode(path: Path) -> int:
    """Decode all records of a file; gives how many there are."""
    if path.suffix == ".avro":
        with path.open("rb") as file:
            return sum(1 for _ in fastavro.reader(file))
    if path.suffix == ".jsonl":
        loads = msgspec.json.Decoder().decode
        with path.open("rb") as file:
            return sum(1 for line in file if loads(line) is not None)
    parquet = pyarrow.parquet.ParquetFile(path)
    return sum(len(batch.to_pylist()) for batch in parquet.iter_batches(1_000))


if __name__ == "__main__":
    decode(Path(sys.argv[1]))
