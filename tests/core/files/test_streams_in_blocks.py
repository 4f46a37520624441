"""Avro blocks that consist of several bzip2 or xz streams."""

import bz2
import lzma

import pytest

from goodgain.transforms.core.files import avro_codecs
from goodgain.transforms.core.files.avro_codecs import DamagedBlockError, decompress_block

COMPRESS = {"bzip2": bz2.compress, "xz": lzma.compress}
PARTS = [bytes([at % 251]) * (at * 37 % 5_000) for at in range(60)]


@pytest.mark.parametrize("codec", COMPRESS)
def test_streams_are_read_as_one(codec):
    data = b"".join(map(COMPRESS[codec], PARTS))
    content = b"".join(PARTS)
    for trailing in (b"", b"no stream"):
        assert decompress_block(codec, data + trailing, len(content)) == content
    with pytest.raises(DamagedBlockError, match="it has more than"):
        decompress_block(codec, data, len(content) - 1)
    with pytest.raises(DamagedBlockError, match="is truncated"):
        decompress_block(codec, data[:-1], len(content))


@pytest.mark.parametrize("codec", COMPRESS)
def test_work_grows_only_linearly_with_the_number_of_streams(codec, monkeypatch):
    """Counts bytes passed to decompressors: at most 256 extra bytes for each empty stream."""
    sizes = []

    class Counting:
        def __init__(self, *_, **more):
            self._inner = original(**more)

        def __getattr__(self, name):
            return getattr(self._inner, name)

        def decompress(self, data, max_length):
            sizes.append(len(data))
            return self._inner.decompress(data, max_length)

    module, name = {"bzip2": ("bz2", "BZ2Decompressor"), "xz": ("lzma", "LZMADecompressor")}[codec]
    original = getattr(getattr(avro_codecs, module), name)
    monkeypatch.setattr(f"{avro_codecs.__name__}.{module}.{name}", Counting)
    data = COMPRESS[codec](b"") * 5_000
    assert decompress_block(codec, data, 100) == b""
    assert sum(sizes) <= len(data) + 5_000 * 256
