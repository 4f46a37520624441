"""Every format, codec, compression and split gives the same records (SPEC 2)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.record_encoding import record_encoding
from tests.core.files import samples

pytestmark = pytest.mark.slow

ROWS = samples.records(300)
EXPECTED = [parse_mapping(row) for row in ROWS]
AVRO_CODECS = ["null", "deflate", "bzip2", "xz", "snappy", "lz4"]
PARQUET_CODECS = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]


def assert_same(content, path):
    read = samples.read(content, path)
    assert samples.rejected_of(read) == []
    assert [record_encoding(call) for call in read] == [record_encoding(c) for c in EXPECTED]
    assert read == EXPECTED


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize(
    ("codec", "reading"), samples.both_readings(AVRO_CODECS), indirect=["reading"]
)
def test_every_avro_codec_gives_the_same_records(codec):
    assert_same(samples.avro_bytes(ROWS, codec), "traces.avro")


def test_avro_with_zstandard_gives_the_same_records():
    assert_same(samples.zstandard_avro_bytes(ROWS), "traces.avro")


@pytest.mark.parametrize("codec", PARQUET_CODECS)
def test_every_parquet_codec_gives_the_same_records(codec):
    assert_same(samples.parquet_bytes(ROWS, codec), "traces.parquet")


WRITE = {
    "traces.jsonl": samples.jsonl_bytes,
    "traces.avro": samples.avro_bytes,
    "traces.parquet": samples.parquet_bytes,
}


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("suffix", samples.COMPRESS)
@pytest.mark.parametrize(
    ("path", "reading"), samples.both_readings(WRITE, ["avro"]), indirect=["reading"]
)
def test_compressed_files_give_the_same_records(path, suffix):
    assert_same(samples.COMPRESS[suffix](WRITE[path](ROWS)), path + suffix)


def test_several_compressed_streams_in_one_file_are_read():
    half = len(ROWS) // 2
    parts = [samples.jsonl_bytes(ROWS[:half]), samples.jsonl_bytes(ROWS[half:])]
    for suffix in (".gz", ".bz2", ".zst"):
        content = b"".join(samples.COMPRESS[suffix](part) for part in parts)
        assert_same(content, "traces.jsonl" + suffix)
    assert_same(samples.COMPRESS[".gz"](b"".join(parts)) + b"\0" * 700, "traces.jsonl.gz")


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize(
    ("path", "reading"), samples.both_readings(WRITE, ["avro"]), indirect=["reading"]
)
def test_the_content_decides_the_format(path):
    for name in ("traces.jsonl", "traces.avro", "traces.parquet", "traces", "traces.gz"):
        assert_same(WRITE[path](ROWS), name)


SMALL = ROWS[:40]
CONTENTS = {
    "traces.jsonl": samples.jsonl_bytes(SMALL),
    "traces.avro": samples.avro_bytes(SMALL, "null", block=700),
    "traces.parquet": samples.parquet_bytes(SMALL, group=3),
}


@pytest.mark.parametrize("path", CONTENTS)
@settings(max_examples=12)
@given(data=st.data())
def test_any_split_reads_each_record_once_and_in_order(path, data):
    content = CONTENTS[path]
    shard_bytes = data.draw(st.integers(1 + len(content) // 100, len(content) + 1))
    assert samples.read(content, path, shard_bytes) == EXPECTED[: len(SMALL)]


@settings(max_examples=100)
@given(
    lines=st.lists(st.sampled_from([b"", b" ", b"{", b"xyz", b"0123456789" * 3]), max_size=12),
    ends=st.booleans(),
    shard_bytes=st.integers(1, 40),
)
def test_any_split_reads_each_line_once_and_with_its_number(lines, ends, shard_bytes):
    content = b"\n".join(lines) + (b"\n" if ends else b"")
    rows = [(r.position, r.payload) for r in samples.read(content, "a.jsonl", shard_bytes)]
    texts = content.decode().split("\n")
    assert rows == [(f"line {n}", text) for n, text in enumerate(texts, 1) if text.strip()]


def test_every_byte_may_start_a_shard():
    content = samples.jsonl_bytes([{"conversation_id": "a", "iteration": n} for n in (1, 2, 3)])
    for shard_bytes in range(1, len(content) + 1):
        read = samples.read(content, "a.jsonl", shard_bytes)
        assert [call.iteration for call in read] == [1, 2, 3]


def test_a_byte_order_mark_and_carriage_returns_are_ignored():
    content = b"\xef\xbb\xbf" + samples.jsonl_bytes(SMALL).replace(b"\n", b"\r\n") + b"\r\n \n"
    assert samples.read(content) == EXPECTED[: len(SMALL)]


def test_a_last_line_without_a_line_feed_is_read():
    content = samples.jsonl_bytes(SMALL).rstrip(b"\n")
    assert samples.read(content) == EXPECTED[: len(SMALL)]
    assert samples.read(samples.COMPRESS[".gz"](content)) == EXPECTED[: len(SMALL)]
