"""Readers do not raise for any content, and damage affects no other records (SPEC 3)."""

import random

import pytest

from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from tests.core.files import samples

pytestmark = pytest.mark.slow

ROWS = samples.records(20, results=2)
CALLS = [parse_mapping(row) for row in ROWS]

FILES = {
    "a.jsonl": samples.jsonl_bytes(ROWS),
    "a.jsonl.gz": samples.COMPRESS[".gz"](samples.jsonl_bytes(ROWS)),
    "a.jsonl.bz2": samples.COMPRESS[".bz2"](samples.jsonl_bytes(ROWS)),
    "a.jsonl.zst": samples.COMPRESS[".zst"](samples.jsonl_bytes(ROWS)),
    "null.avro": samples.avro_bytes(ROWS, "null", block=500),
    "deflate.avro": samples.avro_bytes(ROWS, "deflate", block=500),
    "bzip2.avro": samples.avro_bytes(ROWS, "bzip2", block=500),
    "xz.avro": samples.avro_bytes(ROWS, "xz", block=500),
    "snappy.avro": samples.avro_bytes(ROWS, "snappy", block=500),
    "lz4.avro": samples.avro_bytes(ROWS, "lz4", block=500),
    "zstandard.avro": samples.zstandard_avro_bytes(ROWS),
    "a.parquet": samples.parquet_bytes(ROWS, group=5),
    "gzip.parquet": samples.parquet_bytes(ROWS, "gzip", group=5),
    "a.parquet.gz": samples.COMPRESS[".gz"](samples.parquet_bytes(ROWS, group=5)),
}


def mutate(content, rng):
    """The content with a few bytes changed, removed or inserted, or with its end cut off."""
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        place = rng.randrange(len(changed))
        kind = rng.randrange(5)
        if kind == 0:
            changed[place] = rng.randrange(256)
        elif kind == 1:
            changed[place] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del changed[place : place + rng.randrange(1, 50)]
        elif kind == 3:
            changed[place:place] = rng.randbytes(rng.randrange(1, 50))
        else:
            del changed[max(place, 1) :]
        if not changed:
            return b""
    return bytes(changed)


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize(("path", "reading"), samples.both_readings(FILES), indirect=["reading"])
def test_damaged_files_do_not_raise_and_shards_give_the_same(path):
    rng = random.Random(path)
    for _ in range(30):
        content = mutate(FILES[path], rng)
        whole = samples.read(content, path)
        for record in whole:
            assert isinstance(record, SearchCall | RejectedRecord)
            if isinstance(record, RejectedRecord):
                assert record.records >= 1
                assert record.reason.endswith(".")
        parts = samples.read(content, path, shard_bytes=len(content) // 3 + 1)
        assert parts == whole


def test_a_damaged_line_affects_no_other():
    rng = random.Random(1)
    content = FILES["a.jsonl"]
    lines = content.splitlines(keepends=True)
    for _ in range(300):
        place = rng.randrange(len(content))
        changed = bytearray(content)
        changed[place] = rng.randrange(256)
        line = content[:place].count(b"\n")
        touched = {line, line + 1} if content[place : place + 1] == b"\n" else {line}
        expected = [call for n, call in enumerate(CALLS) if n not in touched]
        found = samples.calls(samples.read(bytes(changed), "a.jsonl"))
        assert [call for call in expected if call not in found] == []
        assert len(found) <= len(lines) + 1


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize(
    ("path", "reading"),
    samples.both_readings(["null.avro", "deflate.avro", "snappy.avro", "xz.avro"]),
    indirect=["reading"],
)
def test_a_damaged_block_affects_no_other(path):
    rng = random.Random(2)
    content = FILES[path]
    block_starts = [mark + len(samples.SYNC) for mark in samples.markers(content)]
    read_before = [len(samples.calls(samples.read(content[:end], path))) for end in block_starts]
    for _ in range(100):
        place = rng.randrange(block_starts[0], len(content))
        changed = bytearray(content)
        changed[place] = rng.randrange(256)
        block = max(n for n, begin in enumerate(block_starts) if begin <= place)
        expected = CALLS[: read_before[block]] + CALLS[read_before[block + 1] :]
        read = samples.read(bytes(changed), path)
        found = samples.calls(read)
        assert [call for call in expected if call not in found] == []
        if path in ("snappy.avro", "xz.avro"):  # their checksums reveal any change of the data
            assert len(found) in (len(CALLS), len(expected))
        assert bool(samples.rejected_of(read)) or len(found) == len(CALLS)


@pytest.mark.parametrize("path", ["a.parquet", "gzip.parquet"])
def test_a_damaged_row_group_affects_no_other(path):
    rng = random.Random(3)
    content = FILES[path]
    footer = int.from_bytes(content[-8:-4], "little") + 8
    for _ in range(30):
        place = rng.randrange(4, len(content) - footer)
        changed = bytearray(content)
        changed[place] = rng.randrange(256)
        found = samples.calls(samples.read(bytes(changed), path))
        groups = [CALLS[n : n + 5] for n in range(0, len(CALLS), 5)]
        whole = [group for group in groups if all(call in found for call in group)]
        assert len(whole) >= len(groups) - 1


def test_random_bytes_after_any_magic_give_no_records():
    rng = random.Random(4)
    magics = [b"", b"Obj\x01", b"PAR1", b"\x1f\x8b\x08", b"BZh91AY&SY", b"\x28\xb5\x2f\xfd", b"{"]
    for magic in magics:
        for _ in range(30):
            content = magic + rng.randbytes(rng.randrange(200)) + rng.choice([b"", b"PAR1"])
            read = samples.read(content, "a.jsonl", shard_bytes=50)
            assert samples.calls(read) == []
