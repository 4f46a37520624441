"""Whole-file compression: gzip, bzip2 and zstandard, read as a stream (SPEC 2)."""

from __future__ import annotations

import bz2
import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import StrEnum
from typing import Any, BinaryIO, cast

import zstandard
from zlib_ng import zlib_ng

from goodgain.transforms.core.errors import GoodGainError

_PIECE = 4 * 1024
# Most output of one step. zstandard has no such limit; a step's input expands to at most 8 MiB.
_CONTENT = 1024 * 1024
_ZSTANDARD_STEP = 256
_BUFFERED = 2**20
# Its stub declares an instance.
InflateError = cast(type[Exception], zlib_ng.error)
_BROKEN = (InflateError, OSError, EOFError, zstandard.ZstdError)


class Compression(StrEnum):
    """How a whole file is compressed."""

    NONE = "none"
    GZIP = "gzip"
    BZIP2 = "bzip2"
    ZSTANDARD = "zstandard"


class DamagedStreamError(GoodGainError):
    """A compressed stream that is truncated or damaged; everything before that was yielded."""


class _Decompressor(ABC):
    """One compressed stream, decompressed in steps of bounded size."""

    _stream: Any

    @property
    def eof(self) -> bool:
        return bool(self._stream.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._stream.unused_data)

    @abstractmethod
    def steps(self, data: bytes) -> Iterator[bytes]: ...


class _Gzip(_Decompressor):
    def __init__(self) -> None:
        self._stream = zlib_ng.decompressobj(wbits=31)

    def steps(self, data: bytes) -> Iterator[bytes]:
        while data:
            yield self._stream.decompress(data, _CONTENT)
            data = self._stream.unconsumed_tail


class _Bzip2(_Decompressor):
    def __init__(self) -> None:
        self._stream = bz2.BZ2Decompressor()

    def steps(self, data: bytes) -> Iterator[bytes]:
        yield self._stream.decompress(data, _CONTENT)
        while not (self._stream.eof or self._stream.needs_input):
            yield self._stream.decompress(b"", _CONTENT)


class _Zstandard(_Decompressor):
    def __init__(self) -> None:
        self._stream = zstandard.ZstdDecompressor().decompressobj()
        self._unused = b""

    @property
    def unused_data(self) -> bytes:
        return self._unused

    def steps(self, data: bytes) -> Iterator[bytes]:
        for begin in range(0, len(data), _ZSTANDARD_STEP):
            yield self._stream.decompress(data[begin : begin + _ZSTANDARD_STEP])
            if self._stream.eof:
                self._unused = self._stream.unused_data + data[begin + _ZSTANDARD_STEP :]
                return


_DECOMPRESSORS: dict[Compression, Callable[[], _Decompressor]] = {
    Compression.GZIP: _Gzip,
    Compression.BZIP2: _Bzip2,
    Compression.ZSTANDARD: _Zstandard,
}


def compression_of(head: bytes) -> Compression:
    """The compression of a file, detected from its first bytes."""
    if head[:3] == b"\x1f\x8b\x08":
        return Compression.GZIP
    if head[:3] == b"BZh" and head[3:4] in b"123456789" and head[4:10] in _BZIP2_BLOCKS:
        return Compression.BZIP2
    if head[:4] == b"\x28\xb5\x2f\xfd":
        return Compression.ZSTANDARD
    return Compression.NONE


# A bzip2 file begins with a compressed block or, if empty, with the end mark.
_BZIP2_BLOCKS = (b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90")


def decompress(file: BinaryIO, compression: Compression) -> Iterator[bytes]:
    """The content of a file from its beginning, piece by piece.

    Concatenated streams are read as one, as the command-line tools do.

    Raises:
      DamagedStreamError: the file is truncated or damaged, or other data follow. Everything that
        can be decompressed is yielded first.
    """
    if compression is Compression.NONE:
        file.seek(0)
        yield from iter(lambda: file.read(_CONTENT), b"")
        return
    new_decompressor = _DECOMPRESSORS[compression]
    stream_start = position = yielded = 0
    decompressor: _Decompressor | None = new_decompressor()
    while raw := _read_at(file, position, _PIECE):
        position += len(raw)
        while raw:
            if decompressor is None:
                raw = raw.lstrip(b"\0")  # archivers pad with zeros
                if not raw:
                    break
                stream_start, yielded = position - len(raw), 0
                decompressor = new_decompressor()
            try:
                for content in decompressor.steps(raw):
                    yielded += len(content)
                    if content:
                        yield content
            except _BROKEN as error:
                damaged_at = position - len(raw)
                salvaged = _salvage(file, new_decompressor(), stream_start, damaged_at)
                yield from _skip_first(yielded, salvaged)
                raise DamagedStreamError(f"the {compression} data is damaged ({error})") from None
            raw = decompressor.unused_data if decompressor.eof else b""
            if decompressor.eof:
                decompressor = None
    if decompressor is not None:
        raise DamagedStreamError(f"the {compression} data ends too early")


def read_beginning(file: BinaryIO, compression: Compression, length: int) -> bytes:
    """The first `length` bytes of the content, or a little more; less if the file is damaged."""
    pieces = bytearray()
    with suppress(DamagedStreamError):
        for piece in decompress(file, compression):
            pieces += piece
            if len(pieces) >= length:
                break
    return bytes(pieces)


def open_decompressed(file: BinaryIO, compression: Compression, closes: bool = True) -> BinaryIO:
    """The decompressed content of a file as a stream; closing it closes the file if `closes`.

    Reading it raises what `decompress` raises.
    """
    return cast(BinaryIO, io.BufferedReader(_Pieces(file, compression, closes), _BUFFERED))


def open_content(file: BinaryIO, compression: Compression) -> BinaryIO:
    """The content of a file, which stays open."""
    is_plain = compression is Compression.NONE
    return file if is_plain else open_decompressed(file, compression, closes=False)


class _Pieces(io.RawIOBase):
    def __init__(self, file: BinaryIO, compression: Compression, closes: bool) -> None:
        self._file = file
        self._closes = closes
        self._pieces = decompress(file, compression)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = next(self._pieces, b"")
        piece = self._rest[: len(buffer)]
        buffer[: len(piece)] = piece
        self._rest = self._rest[len(piece) :]
        return len(piece)

    def close(self) -> None:
        if self._closes:
            self._file.close()
        super().close()


def _salvage(
    file: BinaryIO, decompressor: _Decompressor, stream_start: int, damaged_at: int
) -> Iterator[bytes]:
    """The content of a stream that is damaged in the piece that begins at `damaged_at`.

    A failed call discards its output, so the stream is decompressed again, with the last piece fed
    byte by byte.
    """
    position = stream_start
    while position < damaged_at:
        raw = _read_at(file, position, min(_PIECE, damaged_at - position))
        position += len(raw)
        yield from decompressor.steps(raw)
    for byte in _read_at(file, damaged_at, _PIECE):
        try:
            yield from decompressor.steps(bytes((byte,)))
        except _BROKEN:
            return


def _skip_first(length: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        if len(piece) > length:
            yield piece[length:]
        length = max(0, length - len(piece))


def _read_at(file: BinaryIO, position: int, length: int) -> bytes:
    file.seek(position)
    return file.read(length)
