"""The bare loops that runs are compared with: decode every record of a file, nothing else.

`python -m tests.bench.bare FILE` runs the loop for the format of the file, and with `--arrow` one
that decodes Avro into columns instead of objects.
"""

import sys
from pathlib import Path

import fastavro
import msgspec
import pyarrow.parquet


class _Result(msgspec.Struct):
    entity_type: str | None = None
    id: str | None = None
    ids: dict[str, str | list[str]] = {}
    url: str | None = None
    title: str | None = None
    snippet: str | None = None
    content: str | None = None
    fields: dict[str, str | list[str]] = {}
    gain: int | None = None
    score: float | None = None
    reference_id: str | None = None


class _Record(msgspec.Struct):
    """A trace record as in the file, decoded by msgspec into these types."""

    conversation_id: str
    iteration: int
    turn: int = 1
    call: int | None = None
    record_id: str | None = None
    timestamp: str | None = None
    query: str | None = None
    tool: str | None = None
    turn_count: int | None = None
    is_final: bool = False
    attributes: dict[str, str] = {}
    costs: dict[str, float] = {}
    results: list[_Result] = []


def decode(path: Path) -> int:
    """Decode all records of a file and return their number."""
    if path.suffix == ".avro":
        with path.open("rb") as file:
            return sum(1 for _ in fastavro.reader(file))
    if path.suffix == ".jsonl":
        loads = msgspec.json.Decoder(_Record).decode
        with path.open("rb") as file:
            return sum(1 for line in file if loads(line) is not None)
    parquet = pyarrow.parquet.ParquetFile(path)
    return sum(len(batch.to_pylist()) for batch in parquet.iter_batches(1_000))


def decode_into_columns(path: Path) -> int:
    """Like `decode`, but by arrow-avro, which polars-avro contains."""
    from polars_avro._avro_rs import AvroSource  # no other loop needs it

    # The function of the package also makes data frames.
    batches = AvroSource([str(path)], False, False).batch_iter(1_000, None)
    return sum(len(pyarrow.array(batch)) for batch in batches)


if __name__ == "__main__":
    (decode_into_columns if "--arrow" in sys.argv else decode)(Path(sys.argv[1]))
