"""The block codecs of Avro object container files, by their name in the header."""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable
from typing import Protocol

import zstandard
from zlib_ng import zlib_ng

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.compression import InflateError
from goodgain.transforms.core.native import native_module

_CHECKSUM_BYTES = 4
_ZSTANDARD_RATIO = 2**15  # at most: a block of 128 KiB takes 4 bytes
_XZ_MEMORY = 256 * 2**20
_MOST_LENGTH_BYTES = 5  # of the length at the beginning of raw snappy


class DamagedBlockError(GoodGainError):
    """A block whose bytes do not fit its codec or schema, or that would take too much memory.

    Attributes:
      records: the greatest number of records that the block can contain; None if unknown.
      too_large: whether only the limits of the reader prevent reading it.
    """

    def __init__(self, reason: str, records: int | None = None, too_large: bool = False) -> None:
        super().__init__(reason)
        self.records = records
        self.too_large = too_large


def too_large(limit: int) -> DamagedBlockError:
    """The error for a block that decompresses to more than `limit` bytes."""
    return DamagedBlockError(f"it has more than {limit:,} bytes of data", too_large=True)


class _BlockDecompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes | memoryview, max_length: int, /) -> bytes: ...


def _first_stream(decompressor: _BlockDecompressor, data: bytes, limit: int) -> bytes:
    """Decompress the stream at the beginning of the data, which must be complete."""
    content = decompressor.decompress(data, limit + 1)
    if len(content) > limit:
        raise too_large(limit)
    if not decompressor.eof:
        raise DamagedBlockError("the compressed data is truncated")
    return content


def _snappy(data: bytes, limit: int) -> bytes:
    compressed, checksum = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    content = _arrow_decompress("snappy", compressed, _snappy_length(compressed), limit)
    if zlib_ng.crc32(content) != int.from_bytes(checksum, "big"):
        raise DamagedBlockError("the checksum does not match")
    return content


def _snappy_length(data: bytes) -> int:
    """Length of the content: a number in groups of seven bits at the beginning of raw snappy."""
    length = 0
    for index, byte in enumerate(data[:_MOST_LENGTH_BYTES]):
        length |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return length
    raise DamagedBlockError("the length of the compressed data is broken")


def _arrow_decompress(codec: str, data: bytes, length: int, limit: int) -> bytes:
    if length > limit:
        raise too_large(limit)
    import pyarrow  # slow to import, and only these codecs need it

    content: bytes = pyarrow.Codec(codec).decompress(data, length, asbytes=True)
    return content


def _zstandard(data: bytes, limit: int) -> bytes:
    """The content of a single frame, which need not declare its size."""
    size = zstandard.frame_content_size(data)
    if size == 0:
        return b""
    if size < 0:
        most = min(limit, _ZSTANDARD_RATIO * len(data)) + 1
        size = len(zstandard.ZstdDecompressor().stream_reader(data).read(most))
    if size > limit:
        raise too_large(limit)
    content: bytes = zstandard.ZstdDecompressor().decompress(
        data, max_output_size=max(size, 1), allow_extra_data=False
    )
    return content


CODECS: dict[str, Callable[[bytes, int], bytes]] = {
    "null": lambda data, _: data,
    # Bytes after a stream are not damage: some writers leave part of zlib's checksum there.
    "deflate": lambda data, limit: _first_stream(zlib_ng.decompressobj(wbits=-15), data, limit),
    "bzip2": lambda data, limit: _first_stream(bz2.BZ2Decompressor(), data, limit),
    "xz": lambda data, limit: _first_stream(
        lzma.LZMADecompressor(memlimit=_XZ_MEMORY), data, limit
    ),
    "snappy": _snappy,
    "lz4": lambda data, limit: _arrow_decompress(
        "lz4_raw", data[4:], int.from_bytes(data[:4], "little"), limit
    ),
    "zstandard": _zstandard,
}


def decompress_block(codec: str, data: bytes, limit: int) -> bytes:
    """Decompress the data of one block by the codec that the header names.

    Raises:
      DamagedBlockError: the data is damaged, or decompresses to more than `limit` bytes.
    """
    native = native_module()
    content: bytes | None = None if native is None else native.decompress(codec, data, limit)
    return _in_python(codec, data, limit) if content is None else content


def _in_python(codec: str, data: bytes, limit: int) -> bytes:
    """Like `decompress_block`, but only by the libraries that Python uses."""
    try:
        return CODECS[codec](data, limit)
    except (
        InflateError,
        OSError,
        EOFError,
        ValueError,
        MemoryError,
        lzma.LZMAError,
        zstandard.ZstdError,
    ) as error:
        raise DamagedBlockError(f"its {codec} data is damaged ({error})") from None
