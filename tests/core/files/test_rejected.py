"""Unusable input gives a rejected row with its place, its content and the reason (SPEC 3)."""

import gzip
import io
import json
import re

import msgspec
import pyarrow as pa
import pytest

from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS
from goodgain.transforms.core.files.line_splitter import LineSplitter, LongLine, lines_of
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.files.shard_reader import read_shard
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.rejection import LONGEST_PAYLOAD, RejectedRecord
from tests.core.files import samples
from tests.core.files.hostile import avro_file
from tests.core.files.samples import avro_record
from tests.core.files.test_schema_evolution import with_schema
from tests.memory import measure_peak

pytestmark = pytest.mark.slow

GOOD = b'{"conversation_id": "good", "iteration": 1}'
ROWS = samples.records(60)
CALLS = [parse_mapping(row) for row in ROWS]


def only_row(content, path="a.jsonl", **options):
    (row,) = samples.rejected_of(samples.read(content, path, **options))
    assert row.source == path
    assert len(row.payload) <= LONGEST_PAYLOAD
    msgspec.json.encode(row)
    return row


@pytest.mark.parametrize(
    ("line", "reason", "field", "conversation_id"),
    [
        (b"not json", "Not valid JSON", None, None),
        (b'{"conversation_id": "c", "iteration": 1', "Not valid JSON", None, "c"),
        (b'{"conversation_id": "c", "query": "\xff"}', "not valid UTF-8", None, "c"),
        (b'{"conversation_id": "c", "iteration": "1st"}', "iteration must", "iteration", "c"),
        (b'{"conversation_id": "c", "iteration": 0}', "iteration must", "iteration", "c"),
        (
            b'{"conversation_id": "c", "iteration": 1, "results": [{"gain": 7}]}',
            "from 0 to 4, got 7",
            "results[0].gain",
            "c",
        ),
        (b'{"conversation_id": "", "iteration": 1}', "not blank", "conversation_id", None),
        (b'{"conversation_id": " ", "iteration": 1}', "not blank", "conversation_id", None),
        (b'{"iteration": 1}', "conversation_id is missing", "conversation_id", None),
        (
            b'{"conversation_id": "c", "iteration": 1, "results": [{"score": NaN}]}',
            "finite number, got NaN",
            "results[0].score",
            "c",
        ),
        (b"[1, 2]", "an object with named fields, got a list", None, None),
    ],
)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_bad_line_among_good_ones_is_rejected(line, reason, field, conversation_id, suffix):
    content = samples.COMPRESS[suffix](b"\n".join([GOOD, b"", line, GOOD]) + b"\n")
    row = only_row(content, "a.jsonl" + suffix)
    assert (row.position, row.field) == ("line 3", field)
    assert (row.conversation_id, row.records) == (conversation_id, 1)
    assert reason in row.reason
    assert row.payload == line.decode("utf-8", "backslashreplace")
    assert len(samples.read(content)) == 3


def test_the_payload_of_a_rejected_row_is_truncated():
    row = only_row(b'{"conversation_id": "c", "iteration": "' + b"\xff\xc3\xa4" * 9_000 + b'"}')
    assert len(row.payload) == LONGEST_PAYLOAD
    assert "\\xffä" in row.payload


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_line_of_100_megabytes_is_not_kept_in_memory(suffix):
    limit = DEFAULT_BOUNDS.max_decoded_bytes * 5 // 4
    long = b'{"conversation_id": "c", "query": "' + b"q" * 100_000_000 + b'"}'
    content = samples.COMPRESS[suffix](b"\n".join([GOOD, long, GOOD]) + b"\n")
    files = samples.Files({"a.jsonl": content})
    shards = plan_shards(io.BytesIO(content), "a.jsonl", len(content), 1 << 25)
    held, read = measure_peak(
        lambda: [record for shard in shards for record in read_shard(shard, files.open)],
        limit=limit,
    )
    (row,) = samples.rejected_of(read)
    assert (row.position, row.conversation_id) == ("line 2", "c")
    assert str(len(long)) in row.reason
    assert len(samples.calls(read)) == 2
    assert held < limit


def test_the_splitter_counts_bytes_that_it_does_not_keep():
    splitter = LineSplitter(limit=5)
    assert splitter.feed(b"ab") == []
    assert splitter.feed(b"cde\n123456\n\nxx") == [b"abcde", b"123456\n"]
    assert list(lines_of(b"123456\n", 5)) == [LongLine(b"123456", 6), b""]
    assert splitter.feed(b"1234") == []
    assert splitter.feed(b"56789\n") == [LongLine(b"xx123456789", 11)]
    assert splitter.take() == b""


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])
def test_a_truncated_compressed_file_keeps_its_earlier_records(suffix):
    rows = samples.records(4_000, results=2)
    expected = [parse_mapping(row) for row in rows]
    content = samples.COMPRESS[suffix](samples.jsonl_bytes(rows))
    for kept in (len(content) - 1, len(content) * 3 // 4, 40):
        read = samples.read(content[:kept], "a.jsonl" + suffix)
        (row,) = samples.rejected_of(read)
        assert read[-1] is row
        assert row.position == f"line {len(read)}"
        assert "ends too early" in row.reason
        assert read[:-1] == expected[: len(read) - 1]
    assert len(samples.read(content[: len(content) * 3 // 4])) > 1_000


def test_a_compressed_file_with_damaged_or_trailing_bytes_keeps_its_records():
    content = gzip.compress(samples.jsonl_bytes(ROWS))
    broken = content[:-8] + b"\0" * 8
    assert "damaged" in only_row(broken, "a.jsonl.gz").reason
    for read in (samples.read(broken), samples.read(content + b"something else")):
        assert samples.calls(read) == CALLS
    assert "damaged" in only_row(content + b"something else", "a.jsonl.gz").reason


def test_a_truncated_compressed_avro_file_keeps_its_whole_blocks():
    plain = samples.avro_bytes(ROWS, "null")
    content = gzip.compress(plain, 0, mtime=0)[: len(plain) // 2]
    read = samples.read(content, "a.avro.gz")
    of_block, of_file = samples.rejected_of(read)
    assert of_block.reason == "The file ends inside this Avro block."
    assert (of_file.position, "ends too early" in of_file.reason) == ("file", True)
    found = samples.calls(read)
    assert found == CALLS[: len(found)]
    assert len(found) > 10


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("a.avro", b"", "does not begin like it"),
        ("a.avro", b"Obj\x02....", "does not begin like it"),
        ("a.parquet", b"not parquet", "does not begin like it"),
        ("a.avro.gz", gzip.compress(b"text", mtime=0), "does not begin like it"),
        ("a.jsonl", b"PK\x03\x04....", "a zip archive"),
        ("a.jsonl", '{"a": 1}'.encode("utf-16"), "text in UTF-16"),
        ("a.jsonl.xz", b"\xfd7zXZ\x00....", "compressed by xz"),
        ("image", b"\x89PNG\r\n\x1a\n\0\0\0", "not JSON Lines, CSV, Avro or Parquet"),
        ("a.avro", b"Obj\x01\xff\xff", "header of the Avro file is damaged"),
        ("a.parquet", b"PAR1 and nothing more", "footer of the Parquet file is damaged"),
    ],
)
def test_a_file_without_a_readable_format_is_rejected(path, content, reason):
    row = only_row(content, path)
    assert row.position == "file"
    assert reason in row.reason


@pytest.mark.usefixtures("reading")
def test_an_empty_file_has_no_records():
    assert samples.read(b"", "a.jsonl") == []
    assert samples.read(b"\n \n", "anything") == []
    assert samples.read(gzip.compress(b"", mtime=0), "a.jsonl.gz") == []
    assert samples.read(samples.avro_bytes([]), "a.avro") == []
    assert samples.read(samples.parquet_bytes([]), "a.parquet") == []


@pytest.mark.usefixtures("reading")
def test_a_missing_or_unreadable_file_gives_a_rejected_row():
    (shard,) = plan_shards(io.BytesIO(GOOD), "gone.jsonl", len(GOOD))
    (row,) = read_shard(shard, samples.Files().open)
    assert (row.source, row.position) == ("gone.jsonl", "file")
    assert "No such file" in row.reason

    class Unreadable(io.BytesIO):
        def read(self, *_):
            raise PermissionError(13, "Permission denied")

    contents = {"j": GOOD, "a": samples.avro_bytes(ROWS), "p": samples.parquet_bytes(ROWS)}
    for path in ("a.jsonl", "a.avro", "a.parquet", "a.jsonl.gz", "a.avro.gz"):
        data = (
            gzip.compress(contents[path[2]], mtime=0) if path.endswith(".gz") else contents[path[2]]
        )
        (shard,) = plan_shards(io.BytesIO(data), path, len(data))
        (row,) = read_shard(shard, lambda _: Unreadable(b"x" * 100))
        assert (row.source, row.position) == (path, "file")
        assert "Permission denied" in row.reason


def bad_rows():
    """Records; the second and the last but one are invalid."""
    rows = samples.records(30, results=2)
    rows[1] = {**rows[1], "results": [{**samples.records(30)[1]["results"][0], "gain": 7}]}
    rows[28] = {**rows[28], "conversation_id": ""}
    return rows


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize(
    ("path", "write", "places"),
    [
        ("a.avro", samples.avro_bytes, r"block at byte \d+, record \d+"),
        ("a.parquet", samples.parquet_bytes, r"row group 0, row \d+"),
    ],
)
def test_bad_records_of_typed_formats_are_rejected_alone(path, write, places):
    rows = bad_rows()
    read = samples.read(write(rows), path)
    first, second = samples.rejected_of(read)
    assert (first.field, first.conversation_id) == ("results[0].gain", rows[1]["conversation_id"])
    assert json.loads(first.payload)["results"][0]["gain"] == 7
    assert (second.field, second.conversation_id) == ("conversation_id", None)
    for row in (first, second):
        assert re.fullmatch(places, row.position)
    good = [parse_mapping(row) for n, row in enumerate(rows) if n not in (1, 28)]
    assert samples.calls(read) == good


def test_positions_in_parquet_are_row_groups_and_rows():
    rows = bad_rows()
    read = samples.read(samples.parquet_bytes(rows, group=20), "a.parquet")
    assert [r.position for r in samples.rejected_of(read)] == [
        "row group 0, row 1",
        "row group 1, row 8",
    ]


def test_a_parquet_column_of_a_wrong_type_rejects_its_rows():
    table = pa.table({"conversation_id": ["c", "d"], "iteration": [1, 2], "turn": ["1st", None]})
    read = samples.read(samples.table_bytes(table), "a.parquet")
    (row,) = samples.rejected_of(read)
    assert (row.field, row.conversation_id, row.position) == ("turn", "c", "row group 0, row 0")
    assert [call.conversation_id for call in samples.calls(read)] == ["d"]
    for column in (pa.array([1], pa.duration("ns")), pa.array([[1]]), pa.array([{"a": 1}])):
        table = pa.table({"conversation_id": ["c"], "iteration": [1], "query": column})
        assert only_row(samples.table_bytes(table), "a.parquet").field == "query"


def test_a_parquet_file_without_required_columns_rejects_its_rows():
    table = pa.table({"x": [1, 2]})
    read = samples.read(samples.table_bytes(table), "a.parquet")
    assert [row.field for row in read] == ["conversation_id", "conversation_id"]


def test_text_that_is_not_utf_8_rejects_only_its_record():
    rows = [{"conversation_id": "c", "iteration": n, "query": q} for n, q in ((1, "a"), (2, "QQ"))]
    schema = avro_record("S", conversation_id="string", iteration="int", query="string")
    avro = samples.avro_bytes(rows, "null", schema).replace(b"QQ", b"\xff\xff")
    table = pa.Table.from_pylist(rows)
    parquet = samples.table_bytes(table, "none").replace(b"QQ", b"\xff\xff")
    for path, content in (("a.avro", avro), ("a.parquet", parquet)):
        read = samples.read(content, path)
        (row,) = samples.rejected_of(read)
        assert (row.field, row.conversation_id) == ("query", "c")
        assert "not UTF-8" in row.reason
        assert "\\udcff" in row.payload
        assert [call.iteration for call in samples.calls(read)] == [1]
        msgspec.json.encode(row)


@pytest.mark.usefixtures("reading")
def test_a_damaged_avro_block_gives_one_row_and_the_rest_is_read():
    content = bytearray(samples.avro_bytes(ROWS, "deflate"))
    marks = samples.markers(content)
    middle = marks[len(marks) // 2]
    content[middle + 25 : middle + 40] = b"\xaa" * 15
    for shard_bytes in (1 << 30, 500, 77):
        read = samples.read(bytes(content), "a.avro", shard_bytes)
        (row,) = samples.rejected_of(read)
        assert row.position == f"block at byte {middle + 16}"
        assert "This Avro block is damaged" in row.reason
        assert row.records > 1
        assert not row.at_least
        found = samples.calls(read)
        assert len(found) + row.records == len(CALLS)
        before = next(n for n, call in enumerate(CALLS) if found[n : n + 1] != [call])
        assert found == CALLS[:before] + CALLS[before + row.records :]


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("inserted", [b"", b"\xaa" * 60])
def test_the_row_for_an_avro_block_of_another_length_says_that_the_number_lost_is_unknown(inserted):
    content = samples.avro_bytes(ROWS, "deflate")
    marks = samples.markers(content)
    middle = marks[len(marks) // 2]
    changed = content[: middle + 25] + inserted + content[middle + 40 :]
    (row,) = samples.rejected_of(samples.read(changed, "a.avro"))
    assert row.position == f"block at byte {middle + 16}"
    assert (row.records, row.at_least) == (1, True)
    assert "an unknown number of records, which counts as one" in row.reason


def test_reasons_are_the_same_in_every_run():
    """fastavro's own messages contain a memory address."""
    schema = avro_record("S", conversation_id="string", iteration="int", price="double")
    data = b"\x02c\x02\0\0"  # a truncated number
    row = only_row(avro_file(schema, [(1, data)]), "a.avro")
    assert row.reason.endswith("its records do not decode (cannot read double).")


@pytest.mark.usefixtures("reading")
def test_a_damaged_sync_marker_loses_no_records():
    content = samples.avro_bytes(ROWS, "deflate")
    marks = samples.markers(content)
    for mark in marks:
        damaged = content[:mark] + b"T" + content[mark + 1 :]
        for shard_bytes in (1 << 30, 500):
            assert samples.read(damaged, "a.avro", shard_bytes) == CALLS


@pytest.mark.usefixtures("reading")
def test_a_truncated_avro_file_keeps_its_whole_blocks():
    content = samples.avro_bytes(ROWS, "deflate")
    for kept in range(len(content) - 1, len(content) - 40, -1):
        read = samples.read(content[:kept], "a.avro")
        row = only_row(content[:kept], "a.avro")
        found = samples.calls(read)
        assert found == CALLS[: len(found)]
        assert "ends inside" in row.reason
        assert len(found) + row.records in (len(CALLS), len(CALLS) + 1)


def test_an_unknown_codec_gives_one_row():
    content = samples.avro_bytes(ROWS, "null").replace(b"\x08null", b"\x0abrotl")
    row = only_row(content, "a.avro", shard_bytes=1_000)
    assert row.position == "file"
    assert "codec 'brotl' is not supported" in row.reason


@pytest.mark.usefixtures("reading")
def test_avro_schemas_of_other_data_and_damaged_ones_are_rejected():
    content = samples.avro_bytes(["a", "b"], schema={"type": "string"})
    rows = samples.read(content, "a.avro")
    assert ["object with named fields" in row.reason for row in rows] == [True, True]
    broken = with_schema(samples.avro_bytes([], "null"), avro_record("S", a="int"))
    broken = broken.replace(b'"int"', b'"tin"')
    assert only_row(broken, "a.avro").position == "file"


def test_an_impossible_number_of_empty_records_is_rejected():
    schema = avro_record("S")
    head = samples.avro_bytes([], "null", schema)
    content = head + samples.zigzag(2**60) + samples.zigzag(0) + samples.SYNC
    row = only_row(content, "a.avro")
    assert ("cannot fit" in row.reason, row.records) == (True, 1)


def test_a_damaged_parquet_row_group_affects_no_other():
    content = bytearray(samples.parquet_bytes(ROWS, "gzip", group=20))
    content[4:40] = b"\xff" * 36
    read = samples.read(bytes(content), "a.parquet")
    (row,) = samples.rejected_of(read)
    assert (row.position, row.records) == ("row group 0, row 0", 20)
    assert samples.calls(read) == CALLS[20:]


def test_rejected_rows_are_frozen_and_have_defaults():
    row = RejectedRecord("a", "file", "Because.")
    assert (row.records, row.field, row.payload) == (1, None, "")
    with pytest.raises(AttributeError):
        row.records = 2
    assert InputFile("a", 1) < InputFile("b", 0)
