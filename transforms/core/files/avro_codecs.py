"""The block codecs of Avro object container files, by their name in the header."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from functools import partial
from typing import Protocol

import zstandard

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.native import native_module

_CHECKSUM_BYTES = 4
_FIRST_STREAM_PIECE = 256
_ZSTANDARD_PIECE = 512  # expands to 16 MiB at most
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

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes | memoryview, max_length: int, /) -> bytes: ...


def _first_stream(decompressor: _BlockDecompressor, data: bytes, limit: int) -> bytes:
    """Decompress the stream at the beginning of the data, which must be complete."""
    content = decompressor.decompress(data, limit + 1)
    if len(content) > limit:
        raise too_large(limit)
    if not decompressor.eof:
        raise DamagedBlockError("the compressed data is truncated")
    return content


def _concatenated_streams(
    new_decompressor: Callable[[], _BlockDecompressor], data: bytes, limit: int
) -> bytes:
    """The contents of concatenated streams; trailing bytes that are not a stream are ignored."""
    decompressor = new_decompressor()
    first = _first_stream(decompressor, data, limit)
    rest = memoryview(decompressor.unused_data)
    contents, length = [first], len(first)
    while rest:
        try:
            content, used = _next_stream(new_decompressor(), rest, limit, length)
        except (OSError, lzma.LZMAError):
            break
        contents.append(content)
        length += len(content)
        rest = rest[used:]
    return b"".join(contents)


def _next_stream(
    decompressor: _BlockDecompressor, data: memoryview, limit: int, decompressed: int
) -> tuple[bytes, int]:
    """A stream's content, and how many bytes of `data` it used.

    The decompressor copies the bytes after the stream, so it gets small pieces: otherwise a block
    of very many empty streams would take quadratic time.

    Args:
      decompressed: number of bytes that earlier streams gave.
    """
    contents: list[bytes] = []
    begin, size = 0, _FIRST_STREAM_PIECE
    while begin < len(data) and not decompressor.eof:
        content = decompressor.decompress(data[begin : begin + size], limit - decompressed + 1)
        decompressed += len(content)
        if decompressed > limit:
            raise too_large(limit)
        contents.append(content)
        begin, size = min(begin + size, len(data)), 2 * size
    if not decompressor.eof:
        raise DamagedBlockError("the compressed data is truncated")
    return b"".join(contents), begin - len(decompressor.unused_data)


def _snappy(data: bytes, limit: int) -> bytes:
    compressed, checksum = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    content = _arrow_decompress("snappy", compressed, _snappy_length(compressed), limit)
    if zlib.crc32(content) != int.from_bytes(checksum, "big"):
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
    declared_size = zstandard.frame_content_size(data)
    if declared_size > limit:
        raise too_large(limit)
    if declared_size > 0:
        content: bytes = zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)
        return content
    return _zstandard_of_unknown_size(data, limit)


def _zstandard_of_unknown_size(data: bytes, limit: int) -> bytes:
    decompressor = zstandard.ZstdDecompressor().decompressobj()
    pieces = []
    left = limit
    for begin in range(0, len(data), _ZSTANDARD_PIECE):
        if decompressor.eof:
            raise DamagedBlockError("there are bytes after the compressed data")
        piece = decompressor.decompress(data[begin : begin + _ZSTANDARD_PIECE])
        left -= len(piece)
        if left < 0:
            raise too_large(limit)
        pieces.append(piece)
    if not decompressor.eof or decompressor.unused_data:
        raise DamagedBlockError("the compressed data is truncated")
    return b"".join(pieces)


CODECS: dict[str, Callable[[bytes, int], bytes]] = {
    "null": lambda data, _: data,
    # Trailing bytes are not damage: some writers leave part of zlib's checksum there.
    "deflate": lambda data, limit: _first_stream(zlib.decompressobj(wbits=-15), data, limit),
    "bzip2": partial(_concatenated_streams, bz2.BZ2Decompressor),
    "xz": partial(_concatenated_streams, partial(lzma.LZMADecompressor, memlimit=_XZ_MEMORY)),
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
        zlib.error,
        OSError,
        EOFError,
        ValueError,
        MemoryError,
        lzma.LZMAError,
        zstandard.ZstdError,
    ) as error:
        raise DamagedBlockError(f"its {codec} data is damaged ({error})") from None
