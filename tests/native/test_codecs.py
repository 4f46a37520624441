"""Codecs of Avro blocks: native code gives what Python gives, and leaves the rest to it."""

import bz2
import os
import random
import zlib
from pathlib import Path

import pyarrow
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.files import avro_codecs
from goodgain.transforms.core.files.avro_codecs import DamagedBlockError, decompress_block
from goodgain.transforms.core.native import native_module
from tests.native.paths import needs_native

pytestmark = [needs_native, pytest.mark.slow]

SKIPPABLE = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"  # a frame of zstandard without content
WIDE_WINDOW = 28  # log2; a decompressor refuses it unless told otherwise


def deflate(content):
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(content) + compressor.flush()


def snappy(content):
    compressed = pyarrow.Codec("snappy").compress(content, asbytes=True)
    return compressed + zlib.crc32(content).to_bytes(4, "big")


def zstandard_unsized(content, **parameters):
    """As Java writes it, without the length of the content."""
    how = zstandard.ZstdCompressionParameters(write_content_size=0, **parameters)
    compressor = zstandard.ZstdCompressor(compression_params=how).compressobj()
    return compressor.compress(content) + compressor.flush()


def zstandard_checked(content):
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


# By name: the codec, and a function that compresses.
WRITERS = {
    "deflate": ("deflate", deflate),
    "bzip2": ("bzip2", bz2.compress),
    "snappy": ("snappy", snappy),
    "zstandard": ("zstandard", zstandard.compress),
    "zstandard of unknown size": ("zstandard", zstandard_unsized),
    "zstandard with a checksum": ("zstandard", zstandard_checked),
}
RANDOM = random.Random(8)
TEXT = b"".join(b"%d words of a text " % RANDOM.randrange(100_000) for _ in range(20_000))


def read_natively(codec, data, most):
    return native_module().decompress(codec, data, most)


def outcome(read, *block):
    try:
        return read(*block)
    except DamagedBlockError as error:
        return str(error), error.too_large


def assert_as_in_python(codec, data, most):
    """Assert that the block gives the same content or error as in Python; returns that."""
    in_python = outcome(avro_codecs._in_python, codec, data, most)
    native = read_natively(codec, data, most)
    assert native is None or native == in_python
    assert outcome(decompress_block, codec, data, most) == in_python
    return in_python


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 131_072, len(TEXT)])
@pytest.mark.parametrize("of", [TEXT, bytes(len(TEXT)), RANDOM.randbytes(len(TEXT))])
def test_blocks_are_read_natively_up_to_the_bound(writer, size, of):
    codec, compress = WRITERS[writer]
    content = of[:size]
    data = compress(content)
    for most in (size, size + 1, 2**40):
        assert read_natively(codec, data, most) == content
        assert assert_as_in_python(codec, data, most) == content
    if size:
        assert read_natively(codec, data, size - 1) is None
        assert assert_as_in_python(codec, data, size - 1)[1], "too large"


@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_cut_off_is_left_to_python(writer):
    codec, compress = WRITERS[writer]
    data = compress(TEXT[:2_000])
    for end in range(len(data)):
        assert read_natively(codec, data[:end], 2_000) is None
        assert_as_in_python(codec, data[:end], 2_000)


@pytest.mark.parametrize("writer", WRITERS)
def test_changed_bytes_give_the_same_or_are_left_to_python(writer):
    codec, compress = WRITERS[writer]
    data = compress(TEXT[:3_000])
    rng = random.Random(writer)
    for _ in range(1_500):
        changed = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 6])):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        assert_as_in_python(codec, bytes(changed), rng.choice([3_000, 3_001, 100_000]))


@pytest.mark.parametrize("writer", WRITERS)
def test_bytes_after_the_data(writer):
    codec, compress = WRITERS[writer]
    data = compress(TEXT[:2_000])
    for rest in (b"\0", b"rest", data[:9], data, compress(b""), SKIPPABLE):
        assert_as_in_python(codec, data + rest, 10_000)
    ignored = codec in ("deflate", "bzip2")
    assert (assert_as_in_python(codec, data + b"rest", 2_000) == TEXT[:2_000]) == ignored


@pytest.mark.parametrize(
    ("codec", "data", "reason"),
    [
        ("snappy", snappy(TEXT)[:-1] + b"\0", "the checksum does not match"),
        ("snappy", snappy(TEXT)[:-4] + zlib.crc32(TEXT).to_bytes(4, "little"), "the checksum does"),
        ("snappy", bytes(4), "the length of the compressed data is broken"),
        ("snappy", b"\x80\x80\x80\x80\x80\0" + bytes(4), "the length of the compressed data is"),
        ("snappy", b"\xff\xff\xff\xff\x0f" + bytes(4), "it has more than"),
        ("snappy", b"abc", "is broken"),
        ("zstandard", zstandard_unsized(TEXT, window_log=WIDE_WINDOW), "too much memory"),
        ("zstandard", zstandard.compress(TEXT) + SKIPPABLE, "unused data"),
        ("zstandard", zstandard_unsized(TEXT) * 2, "unused data"),
        ("zstandard", b"", "zstandard data is damaged"),
        ("zstandard", b"\x22\xb5\x2f\xfd", "zstandard data is damaged"),
        ("zstandard", zstandard_checked(TEXT)[:-1] + b"\0", "zstandard data is damaged"),
        ("bzip2", b"", "is truncated"),
    ],
)
def test_reasons_are_python_s(codec, data, reason):
    assert read_natively(codec, data, len(TEXT)) is None
    text, too_large = assert_as_in_python(codec, data, len(TEXT))
    assert reason in text
    assert too_large == ("it has more than" in reason)


def test_frames_of_zstandard_that_are_accepted():
    wide = zstandard.ZstdCompressionParameters(window_log=WIDE_WINDOW)
    data = zstandard.ZstdCompressor(compression_params=wide).compress(TEXT)
    assert assert_as_in_python("zstandard", data, len(TEXT)) == TEXT
    assert assert_as_in_python("zstandard", SKIPPABLE, 10) == b""


def test_other_codecs_are_left_to_python():
    for codec in ("null", "xz", "lz4", "zstd", "Deflate", ""):
        assert read_natively(codec, b"abc", 100) is None


codecs = st.sampled_from(["deflate", "bzip2", "snappy", "zstandard"])


@given(codecs, st.binary(max_size=400), st.integers(0, 1 << 20))
@settings(max_examples=500)
def test_any_bytes(codec, data, most):
    assert_as_in_python(codec, data, most)


HEADS = {"bzip2": b"BZh91AY&SY", "snappy": b"", "zstandard": b"\x28\xb5\x2f\xfd", "deflate": b""}


@given(codecs, st.binary(max_size=100), st.integers(0, 1 << 20))
@settings(max_examples=500)
def test_any_bytes_behind_a_magic_number(codec, data, most):
    assert_as_in_python(codec, HEADS[codec] + data, most)


@pytest.mark.parametrize("writer", WRITERS)
def test_bombs_stop_at_the_bound(writer):
    codec, compress = WRITERS[writer]
    data = compress(bytes(1 << 26))
    assert read_natively(codec, data, 1 << 20) is None
    assert assert_as_in_python(codec, data, 1 << 20)[1], "too large"


def test_a_block_that_is_refused_for_its_length_leaves_no_memory_held():
    most = 1 << 26
    data = deflate(bytes(2 * most))
    before = resident_memory()
    assert read_natively("deflate", data, most) is None
    assert resident_memory() - before < most // 2


def resident_memory():
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
