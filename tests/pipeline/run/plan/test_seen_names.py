"""Names in the first 100 records of files, in every format (SPEC 5, costs; SPEC 10)."""

import io
import os

import pyarrow as pa
import pytest

from goodgain.pipeline.inputs.local_files import open_local
from goodgain.pipeline.run.plan.seen_names import find_names
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.warnings.field_names import SeenNames
from tests.core.files import samples
from tests.pipeline.runs import write_jsonl

pytestmark = pytest.mark.usefixtures("reading")

COSTS = {"type": "map", "values": "double"}
SCHEMA = samples.avro_record("SearchCall", conversation_id="string", iteration="int", costs=COSTS)
COLUMNS = pa.schema(
    [
        ("conversation_id", pa.string()),
        ("iteration", pa.int32()),
        ("costs", pa.map_(pa.string(), pa.float64())),
    ]
)


def as_avro(rows, codec):
    return samples.avro_bytes(rows, codec, SCHEMA, block=1)


def as_parquet(rows, group=1_000):
    maps = [{**row, "costs": list(row["costs"].items())} for row in rows]
    return samples.table_bytes(pa.Table.from_pylist(maps, COLUMNS), group=group)


WRITERS = {
    "avro": lambda rows: as_avro(rows, "deflate"),
    "avro.gz": lambda rows: samples.COMPRESS[".gz"](as_avro(rows, "null")),
    "jsonl": samples.jsonl_bytes,
    "jsonl.gz": lambda rows: samples.COMPRESS[".gz"](samples.jsonl_bytes(rows)),
    "parquet": as_parquet,
    "small.parquet": lambda rows: as_parquet(rows, group=7),
}


def with_cost_at(number):
    """105 records, of which only the one at this position has a cost."""
    rows = samples.records(105, results=1)
    return [{**row, "costs": {"usd": 1.0} if at == number else {}} for at, row in enumerate(rows)]


def costs_seen(contents):
    files = [InputFile(name, len(content)) for name, content in contents.items()]
    return set(find_names(files, lambda path: io.BytesIO(contents[path])).costs)


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize(("number", "seen"), [(0, {"usd"}), (99, {"usd"}), (100, set())])
def test_a_cost_is_seen_in_the_first_hundred_records_only(suffix, number, seen):
    assert costs_seen({f"a.{suffix}": WRITERS[suffix](with_cost_at(number))}) == seen


def test_every_file_of_sixty_is_inspected():
    contents = {
        f"{at}.jsonl": samples.jsonl_bytes(with_cost_at(0 if at == 3 else 104)) for at in range(60)
    }
    assert costs_seen(contents) == {"usd"}


def test_a_truncated_compressed_file_is_inspected_up_to_its_end():
    content = samples.COMPRESS[".gz"](as_avro(with_cost_at(0), "null"))
    assert costs_seen({"a.avro.gz": content[:-200]}) == {"usd"}


@pytest.mark.slow
def test_only_the_first_large_avro_blocks_are_decoded():
    rows = [{**row, "conversation_id": "c" * 2**20} for row in with_cost_at(99)]
    assert costs_seen({"a.avro": as_avro(rows, "deflate")}) == set()


def test_nothing_is_read_of_pipes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert find_names([InputFile(str(tmp_path / "pipe"), 0)], open_local) == SeenNames()


def test_some_of_many_files_are_inspected(tmp_path, monkeypatch):
    monkeypatch.setattr("goodgain.pipeline.run.plan.seen_names._MOST_FILES", 20)
    files = []
    for number in range(50):
        path = write_jsonl(tmp_path / f"{number:02}.jsonl", [{f"field{number}": 1}])
        files.append(InputFile(path, os.path.getsize(path)))
    seen = find_names(files, open_local)
    assert len(seen.call) == 20
    assert {"field0", "field49"} <= seen.call
