"""Small files that expand to gigabytes or would crash a reader give a rejected row (SPEC 3)."""

import io

import pytest

from goodgain.transforms.core.files.avro_layout import layout_of
from goodgain.transforms.core.files.avro_values import TooLargeError, skip_values
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.files.shard_reader import read_shard
from goodgain.transforms.core.files.varint import read_zigzag
from tests.core.files import hostile, samples
from tests.core.files.limited import MOST_MEMORY, read_limited

GOOD = b'{"conversation_id": "good", "iteration": 1}\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The path of a hostile file by its name; each is made once."""
    folder = tmp_path_factory.mktemp("hostile")

    def path_of(name):
        path = folder / name
        if not path.exists():
            make, _ = hostile.FILES[name]
            path.write_bytes(make())
        return path

    return path_of


@pytest.mark.slow
@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize(
    ("name", "reading"), samples.both_readings(hostile.FILES), indirect=["reading"]
)
def test_hostile_files_give_a_rejected_row_within_bounded_memory(name, made):
    _, reason_part = hostile.FILES[name]
    path = made(name)
    assert path.stat().st_size < 64 * hostile.MEBIBYTE
    outcome = read_limited(path)
    assert outcome.memory < MOST_MEMORY
    if reason_part is not None:
        assert outcome.calls == 0
        assert outcome.lost >= 1
        assert reason_part in outcome.reasons[0]
        assert all(reason.endswith(".") for reason in outcome.reasons)


@pytest.mark.slow
@pytest.mark.parametrize("name", hostile.SCHEMAS)
def test_schemas_of_values_without_bytes_cost_little(name, tmp_path):
    """At most 20 s of CPU and 500 MB, in small files of many blocks, too."""
    make, reason_part = hostile.SCHEMAS[name]
    path = tmp_path / name
    path.write_bytes(make())
    outcome = read_limited(path, seconds=20)
    assert outcome.memory < 500_000_000
    if reason_part is None:
        assert outcome.reasons == []
    else:
        assert outcome.calls == 0
        assert reason_part in outcome.reasons[0]


@pytest.mark.usefixtures("reading")
def test_a_record_of_many_empty_fields_is_read():
    """Ordinary schemas stay far below the limit, even if nearly all values are null."""
    nullable = {"type": ["null", "string"], "default": None}
    schema = samples.avro_schema()
    schema["fields"] += [{"name": f"f{number}", **nullable} for number in range(2_000)]
    rows = samples.records(20)
    assert (
        len(samples.calls(samples.read(samples.avro_bytes(rows, "null", schema), "a.avro"))) == 20
    )


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("codec", ["deflate", "bzip2", "xz", "snappy", "lz4"])
def test_only_blocks_beyond_the_bound_are_rejected(codec):
    rows = samples.records(40)
    content = samples.avro_bytes(rows, codec, block=3_000)
    read = samples.read(content, "a.avro", bounds=ReadBounds(max_decoded_bytes=1_000))
    found = samples.rejected_of(read)
    assert {"raise --max-decoded-bytes" in row.reason for row in found} == {True}
    assert sum(row.records for row in found) + len(samples.calls(read)) == len(rows)


@pytest.mark.usefixtures("reading")
def test_blocks_whose_size_is_checked_first_give_the_same_records():
    rows = samples.records(60)
    tight = ReadBounds(max_decoded_bytes=40_000)  # blocks of this size might exceed it when decoded
    for codec in ("null", "deflate"):
        content = samples.avro_bytes(rows, codec, block=20_000)
        assert samples.read(content, "a.avro", bounds=tight) == samples.read(content, "a.avro")


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("path", ["a.jsonl", "a.jsonl.gz", "a.avro", "a.parquet"])
def test_a_record_with_too_many_results_is_rejected_alone(path):
    rows = [
        {**row, "results": (row["results"] or [{**EMPTY}])[:1] * (5 if number == 7 else 3)}
        for number, row in enumerate(samples.records(12))
    ]
    content = {
        "a.jsonl": samples.jsonl_bytes,
        "a.jsonl.gz": lambda rows: samples.COMPRESS[".gz"](samples.jsonl_bytes(rows)),
        "a.avro": samples.avro_bytes,
        "a.parquet": samples.parquet_bytes,
    }[path](rows)
    read = samples.read(content, path, bounds=ReadBounds(max_record_results=4))
    (row,) = samples.rejected_of(read)
    assert row.field == "results"
    assert row.reason == ("results has 5 entries; at most 4 are read: raise --max-record-results.")
    assert row.conversation_id == "conversation-1"
    assert (
        samples.calls(read)
        == samples.calls(samples.read(content, path))[:7]
        + (samples.calls(samples.read(content, path))[8:])
    )


EMPTY = dict.fromkeys(
    ("entity_type", "id", "url", "title", "snippet", "content", "gain", "score", "reference_id")
) | {"ids": {}, "fields": {}}


@pytest.mark.usefixtures("reading")
def test_an_invalid_logical_type_is_ignored():
    (first, *_) = samples.read(hostile.invalid_logical_type(), "a.avro")
    assert first == samples.read(samples.avro_bytes(samples.records(3)), "a.avro")[0]


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("bit", range(8))
@pytest.mark.parametrize("place", [0, 1])
def test_a_damaged_record_count_does_not_inflate_the_rejected_records(place, bit):
    rows = samples.records(80, results=1)
    content = bytearray(samples.avro_bytes(rows, "deflate", block=10**7))
    begin = samples.markers(content)[0] + len(samples.SYNC)
    content[begin + place] ^= 1 << bit
    read = samples.read(bytes(content), "a.avro")
    lost = sum(row.records for row in samples.rejected_of(read))
    assert 1 <= lost <= len(rows)


def test_a_damaged_row_group_rejects_no_more_records_than_it_has():
    content = samples.parquet_bytes(samples.records(40), group=10)
    read = samples.read(content[:4] + b"\xff" * 60 + content[64:], "a.parquet")
    assert 1 <= sum(row.records for row in samples.rejected_of(read)) <= 10


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("path", ["a.jsonl", "a.jsonl.gz", "a.avro", "a.parquet"])
@pytest.mark.parametrize("kept", [0.9, 0.5, 0.0])
def test_a_file_that_became_shorter_gives_a_rejected_row_for_each_incomplete_shard(path, kept):
    content = {
        "a.jsonl": samples.jsonl_bytes,
        "a.jsonl.gz": lambda rows: samples.COMPRESS[".gz"](samples.jsonl_bytes(rows)),
        "a.avro": samples.avro_bytes,
        "a.parquet": samples.parquet_bytes,
    }[path](samples.records(60))
    shards = plan_shards(io.BytesIO(content), path, len(content), len(content) // 3)
    files = samples.Files({path: content[: int(len(content) * kept)]})
    for shard in shards:
        read = list(read_shard(shard, files.open))
        shorter = [row for row in samples.rejected_of(read) if "became shorter" in row.reason]
        assert len(shorter) == (shard.end > len(files[path]))


def test_a_file_that_became_shorter_by_whole_lines_is_noticed():
    content = GOOD * 30
    (shard,) = plan_shards(io.BytesIO(content), "a.jsonl", len(content))
    read = list(read_shard(shard, samples.Files({"a.jsonl": GOOD * 20}).open))
    assert len(samples.calls(read)) == 20
    (row,) = samples.rejected_of(read)
    assert row.reason == (
        "The file became shorter while it was read: it ends at byte 880, but had 1,320 bytes or "
        "more before. Run again when nothing writes to it."
    )


@pytest.mark.slow
def test_results_of_a_long_line_are_counted_exactly():
    results = ",".join(["{}"] * 400_000)
    line = f'{{"conversation_id": "c", "iteration": 1, "results": [{results}]}}'.encode()
    assert len(line) > hostile.MEBIBYTE
    (row,) = samples.rejected_of(samples.read(line + b"\n"))
    assert row.reason == (
        "results has 400,000 entries; at most 100,000 are read: raise --max-record-results."
    )
    (call,) = samples.read(line + b"\n", bounds=ReadBounds(max_record_results=400_000))
    assert len(call.results) == 400_000
    assert DEFAULT_BOUNDS.record_values < 3.3e6


def test_items_of_no_bytes_count_by_their_decoded_size():
    """Counting only their slots in the list would allow eight times the memory."""
    layout = layout_of({"type": "array", "items": {"type": "record", "name": "E", "fields": []}})
    data = samples.zigzag(1_000) + samples.zigzag(0)
    assert skip_values(layout, data, 1, 100_000) == (1, len(data))
    with pytest.raises(TooLargeError):
        skip_values(layout, data, 1, 20_000)


def test_separators_inside_text_do_not_count_as_values():
    content = '\\",{[' * 1_000_000
    line = f'{{"conversation_id": "c", "iteration": 1, "query": "{content}"}}'.encode()
    (call,) = samples.read(line + b"\n")
    assert len(call.query) == 4 * 1_000_000


@pytest.mark.parametrize(("length", "is_read"), [(10, True), (11, False)])
def test_a_number_of_a_header_has_at_most_ten_bytes(length, is_read):
    """Ten groups of seven bits hold 64 bits; here most of them are 0."""
    number = b"\x82" + b"\x80" * (length - 2) + b"\x00"
    if is_read:
        assert read_zigzag(number, 0) == (1, length)
    else:
        with pytest.raises(ValueError, match="a number is too long"):
            read_zigzag(number, 0)
