"""Tables beside the traces are read alike from each format that has rows."""

import csv
import gzip
import io
from itertools import pairwise

import pyarrow as pa
import pytest

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.compression import Compression
from goodgain.transforms.core.files.input_formats import CSV, INPUT_FORMATS
from goodgain.transforms.core.files.labels import LabelTable
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.files.side_table import SideFile, read_rows
from goodgain.transforms.core.files.table_row import BrokenTableError
from goodgain.transforms.core.files.tables import recognise_table, rows_of_shard, table_rows
from tests.core.files import hostile, samples

ROWS = [{"record_id": f"r{at}", "rank": str(at % 3 + 1), "gain": str(at % 5)} for at in range(40)]


def as_csv(rows):
    text = io.StringIO()
    table = csv.DictWriter(text, rows[0])
    table.writeheader()
    table.writerows(rows)
    return text.getvalue().encode()


def as_avro(rows):
    schema = samples.avro_record("Row", **dict.fromkeys(rows[0], "string"))
    return samples.avro_bytes(rows, "null", schema, block=100)


def as_parquet(rows):
    return samples.table_bytes(pa.Table.from_pylist(rows), group=7)


WRITERS = {"csv": as_csv, "jsonl": samples.jsonl_bytes, "avro": as_avro, "parquet": as_parquet}


def read(content, columns=None):
    def opened(_):
        return io.BytesIO(content)

    return list(table_rows(recognise_table("table", opened), opened, columns))


def test_every_format_with_rows_is_tested():
    assert set(WRITERS) == {name for name, format_ in INPUT_FORMATS.items() if format_.rows}


@pytest.mark.parametrize("name", WRITERS)
def test_a_table_has_the_same_rows_in_each_format(name):
    found = read(WRITERS[name](ROWS))
    assert [row.values for row in found] == ROWS
    assert len({row.number for row in found}) == len(ROWS)
    assert [row.number for row in found] == sorted(row.number for row in found)
    wanted = {"rank", "gain"}
    assert [wanted & row.values.keys() for row in read(WRITERS[name](ROWS), wanted)] == [
        wanted for _ in ROWS
    ]


@pytest.mark.parametrize("name", WRITERS)
def test_labels_are_read_from_each_format(name):
    content = WRITERS[name](ROWS)
    table = recognise_table("labels", lambda _: io.BytesIO(content))
    file = SideFile(table, len(content), 0)
    found = list(read_rows(file, lambda _: io.BytesIO(content), LabelTable()))
    assert [(label.rank, label.gain) for label in found] == [
        (int(row["rank"]), int(row["gain"])) for row in ROWS
    ]


@pytest.mark.parametrize("name", ["avro", "parquet"])
def test_each_row_is_in_one_shard_and_keeps_its_place(name):
    """The numbers of rows begin anew in each shard; `at` and `inside` do not."""
    content = WRITERS[name](ROWS)
    whole = [(row.at, row.inside, row.values) for row in read(content)]
    ends = [0, len(content) // 3, len(content) // 2, len(content)]
    split = [
        (row.at, row.inside, row.values)
        for start, end in pairwise(ends)
        for row in rows_of_shard(
            io.BytesIO(content), FileShard("table", name, Compression.NONE, start, end)
        )
    ]
    assert [values for *_, values in split] == ROWS
    assert [inside for _, inside, _ in split] == [inside for _, inside, _ in whole]
    assert [at for at, *_ in split] == sorted(at for at, *_ in split)


@pytest.mark.parametrize("name", WRITERS)
def test_a_damaged_table_is_read_up_to_its_damage(name):
    rows = ROWS * 500  # more than is read to recognise the format
    content = WRITERS[name](rows)
    if not INPUT_FORMATS[name].is_binary:
        content = gzip.compress(content)
    damaged = content[: len(content) // 2] if name == "avro" else content[:-20]
    table = recognise_table("table", lambda _: io.BytesIO(damaged))
    found = []
    with pytest.raises(BrokenTableError):
        found.extend(row.values for row in table_rows(table, lambda _: io.BytesIO(damaged)))
    assert found == rows[: len(found)]
    assert bool(found) == (name != "parquet")  # whose footer is at its end


def test_bytes_of_avro_that_are_not_utf8_stay_visible():
    schema = {
        "type": "record",
        "name": "Row",
        "fields": [{"name": "record_id", "type": "string"}, {"name": "gain", "type": "int"}],
    }
    content = hostile.avro_file(schema, [(1, b"\x06a\xffb" + samples.zigzag(3))])
    (row,) = read(content)
    assert row.values == {"record_id": r"a\xffb", "gain": 3}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \n", "is empty"),
        (b'[{"gain": 1}]', "is not CSV in UTF-8, JSON Lines, Avro or Parquet"),
        (b"PK\x03\x04....", "is not CSV in UTF-8, JSON Lines, Avro or Parquet"),
        ("gain\n1\n".encode("utf-16"), "is not CSV in UTF-8, JSON Lines, Avro or Parquet"),
        (b"gain\n\0\n", "is not CSV in UTF-8, JSON Lines, Avro or Parquet"),
        (gzip.compress(as_avro(ROWS)), "is Avro, compressed as a whole"),
        (gzip.compress(as_parquet(ROWS)), "is Parquet, compressed as a whole"),
    ],
)
def test_what_is_no_table_is_refused(content, message):
    with pytest.raises(UsageError, match=message):
        recognise_table("table", lambda _: io.BytesIO(content))


def test_any_other_text_is_a_table_in_csv():
    table = recognise_table("table", lambda _: io.BytesIO(gzip.compress(b"gain\n3\n")))
    assert (table.format, table.compression) == (CSV, Compression.GZIP)
