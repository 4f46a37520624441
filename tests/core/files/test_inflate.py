"""zlib-ng reads what Python's own zlib reads, and refuses what that refuses.

Which blocks and files count as damaged must not depend on the library.
"""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zlib_ng import zlib_ng

LIMIT = 1_000


def outcome(library, data, wbits):
    """Whether a stream is refused; else whether it ends, its content, and what follows it."""
    stream = library.decompressobj(wbits=wbits)
    try:
        content = stream.decompress(data, LIMIT)
    except library.error as error:
        return str(error)
    return stream.eof, content, stream.unused_data


@pytest.mark.parametrize("wbits", [-15, 31], ids=["deflate", "gzip"])
@given(
    st.lists(st.sampled_from([b"the ", b"quick", b"\n", b"\0", b"\xff\xfe"]), max_size=400),
    st.integers(0, 9),
    st.integers(0, 4),
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 255)), max_size=3),
    st.binary(max_size=3),
)
def test_changed_streams_are_read_or_refused_alike(wbits, words, level, strategy, changes, more):
    compressor = zlib.compressobj(level, zlib.DEFLATED, wbits, 8, strategy)
    data = bytearray(compressor.compress(b"".join(words)) + compressor.flush())
    for at, bits in changes:
        data[at % len(data)] ^= bits
    stream = bytes(data) + more
    assert outcome(zlib_ng, stream, wbits) == outcome(zlib, stream, wbits)


@pytest.mark.parametrize("wbits", [-15, 31], ids=["deflate", "gzip"])
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_alike(wbits, data):
    assert outcome(zlib_ng, data, wbits) == outcome(zlib, data, wbits)
