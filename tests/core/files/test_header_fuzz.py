"""A flipped bit in a header neither crashes nor exhausts memory; `make fuzz` tries all bits."""

import io
import subprocess
import sys

import pytest

from goodgain.transforms.core.files.first_records import first_records
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.warnings.field_names import find_unknown_names, names_in
from tests.core.files import header_fuzz, samples

pytestmark = pytest.mark.slow


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize(
    ("name", "reading"), samples.both_readings(header_fuzz.TARGETS), indirect=["reading"]
)
def test_a_sample_of_flips_keeps_all_guarantees(name):
    assert header_fuzz.fuzz(name, header_fuzz.sample(name)) == []


def test_fuzz_collects_bad_flips_of_all_processes(monkeypatch):
    def bad(name, numbers):
        return [number for number in numbers if number in (7, 450, 2001)]

    monkeypatch.setattr(header_fuzz, "_bad", bad)
    assert header_fuzz.fuzz("null.avro", list(range(2900))) == [7, 450, 2001]


def test_damaged_statistics_of_a_column_do_not_end_the_process():
    # pyarrow calls terminate() when the metadata of a column with damaged statistics are requested.
    assert header_fuzz.fuzz("a.parquet", range(4040, 4050)) == []


def test_values_that_begin_where_no_levels_end_are_no_rows():
    """Found by `make fuzz`: flips of the lengths of levels, which gave other values."""
    bad = [441, 1433, 1451, 3193, 3705, 4073, 4953, 6329, 7217, 8209, 8227, 9969, 10481, 10849]
    assert header_fuzz.fuzz("v2, dictionary, gzip.parquet", [*bad, 11361, 13105]) == []


def test_the_command_reads_all_flips_of_a_file():
    program = [sys.executable, "-m", "tests.core.files.header_fuzz", "a.jsonl.gz"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "a.jsonl.gz: 320 flips, 0 bad []\n"), done.stderr


PARQUET = samples.parquet_bytes(header_fuzz.ROWS, group=6)
COLUMNS = ("conversation_id", "record_id", "iteration", "results", "gain", "attributes", "query")


def change_name(name, byte):
    """Files with the first byte of a column's name changed, one for each of its occurrences."""
    at = -1
    while (at := PARQUET.find(name.encode(), at + 1)) >= 0:
        yield PARQUET[:at] + byte + PARQUET[at + 1 :]


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_name_that_is_not_utf_8_is_rejected(name):
    """Found by `make fuzz`: a lost row group could not be reported as a rejected row."""
    good = samples.read(PARQUET, "a.parquet")
    found = [samples.read(content, "a.parquet") for content in change_name(name, b"\xee")]
    assert all(read == good or samples.rejected_of(read) for read in found)
    (schema, *_) = found
    assert "The footer of the Parquet file is damaged" in samples.rejected_of(schema)[0].reason


@pytest.mark.parametrize("name", COLUMNS)
def test_a_changed_column_name_is_rejected_or_reported(name):
    good = samples.read(PARQUET, "a.parquet")
    reported = 0
    for content in change_name(name, b"X"):
        file = io.BytesIO(content)
        (shard,) = plan_shards(file, "a.parquet", len(content))
        seen = names_in(first_records(file, shard))
        unknown = {name.name for name in find_unknown_names(seen, frozenset())}
        assert samples.read(content, "a.parquet") == good or f"X{name[1:]}" in unknown
        reported += f"X{name[1:]}" in unknown
    assert reported == 1
