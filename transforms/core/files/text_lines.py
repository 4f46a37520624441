"""Reads the lines of a shard of a text file, plain or compressed, with their positions (SPEC 2)."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from typing import BinaryIO

from msgspec import Struct

from goodgain.transforms.core.files.compression import Compression, DamagedStreamError, decompress
from goodgain.transforms.core.files.line_splitter import LineSplitter, LongLine, lines_of
from goodgain.transforms.core.files.shard import FileShard

_CHUNK = 256 * 1024  # fits into the processor's cache
_TAIL_CHUNK = 64 * 1024
# To number a line, the file before it is read again; beyond this size, its byte offset is shown.
_NUMBERED_BYTES = 1024 * 1024 * 1024


class CutOffLine(Struct, frozen=True):
    """The incomplete last line of a truncated compressed stream."""

    head: bytes
    problem: str


Line = bytes | LongLine | CutOffLine
# Its position; bytes are one or more complete lines, without the last line feed.
_Stretch = tuple[int, Line]


class TextLines(Struct, frozen=True):
    """The lines of a shard.

    Attributes:
      stretches: the lines in file order, in the pieces in which they were read.
      numbered: whether positions are line numbers from 1, as in a compressed file, rather than byte
        offsets.
      limit: most bytes of a line.
      location: puts a position into words, like `line 12`; positions must not decrease from call to
        call.
    """

    stretches: Iterator[_Stretch]
    numbered: bool
    limit: int
    location: Callable[[int], str]

    @property
    def lines(self) -> Iterator[tuple[int, Line]]:
        """Each line, after its position."""
        for position, stretch in self.stretches:
            if not isinstance(stretch, bytes):
                yield position, stretch
                continue
            for line in lines_of(stretch, self.limit):
                yield position, line
                position += 1 if self.numbered else len(line) + 1

    def position_after(self, position: int, stretch: bytes, begin: int, end: int) -> int:
        """The position of the line at `end` of a stretch, if that at `begin` is at `position`."""
        return position + (stretch.count(b"\n", begin, end) if self.numbered else end - begin)


def text_lines(file: BinaryIO, shard: FileShard) -> TextLines:
    """The lines of a shard in file order, without line feeds and a byte order mark.

    Of a line above the limit only the beginning is returned. The incomplete last line of a
    truncated compressed file is a `CutOffLine`.
    """
    limit = shard.bounds.max_decoded_bytes
    if shard.compression is Compression.NONE:
        plain = _drop_mark(_plain_stretches(file, shard), 0)
        return TextLines(plain, False, limit, _LineNumbers(file).location)
    unpacked = _drop_mark(_decompress(file, shard), 1)
    return TextLines(unpacked, True, limit, "line {}".format)


def _drop_mark(stretches: Iterator[_Stretch], first_position: int) -> Iterator[_Stretch]:
    for position, stretch in stretches:
        if (
            position == first_position
            and isinstance(stretch, bytes)
            and stretch.startswith(BOM_UTF8)
        ):
            line, line_feed, stretch = stretch.partition(b"\n")
            yield position, line.removeprefix(BOM_UTF8)
            if not line_feed:
                continue
            position += 1 if first_position else len(line) + 1
        yield position, stretch


def _decompress(file: BinaryIO, shard: FileShard) -> Iterator[_Stretch]:
    splitter = LineSplitter(shard.bounds.max_decoded_bytes)
    number = 1
    try:
        for piece in decompress(file, shard.compression):
            for stretch in splitter.feed(piece):
                yield number, stretch
                number += 1 + (stretch.count(b"\n") if isinstance(stretch, bytes) else 0)
    except DamagedStreamError as error:
        last_line = splitter.take()
        head = last_line.head if isinstance(last_line, LongLine) else last_line
        yield number, CutOffLine(head, str(error))
        return
    yield number, splitter.take()


def _plain_stretches(file: BinaryIO, shard: FileShard) -> Iterator[_Stretch]:
    """The stretches of lines that begin in the shard."""
    begin = _first_line(file, shard)
    if begin is None:
        return
    splitter = LineSplitter(shard.bounds.max_decoded_bytes)
    offset = position = begin
    while offset < shard.end:
        # Past the end of the shard only the rest of its last line is needed.
        length = min(_CHUNK, shard.end - position) if position < shard.end else _TAIL_CHUNK
        file.seek(position)
        chunk = file.read(length)
        position += len(chunk)
        stretches = splitter.feed(chunk) if chunk else [splitter.take()]
        for stretch in stretches:
            if offset >= shard.end:
                return
            yield offset, stretch
            offset += 1 + len(stretch)
        if not chunk:
            return


def _first_line(file: BinaryIO, shard: FileShard) -> int | None:
    """Offset of the first line that begins in the shard; None if there is none."""
    if shard.start == 0:
        return 0
    position = shard.start - 1
    while position < shard.end - 1:
        file.seek(position)
        chunk = file.read(min(_CHUNK, shard.end - 1 - position))
        if not chunk:
            return None
        line_feed = chunk.find(b"\n")
        if line_feed >= 0:
            return position + line_feed + 1
        position += len(chunk)
    return None


class _LineNumbers:
    """Line numbers in a shard, counted from the start of the file on first access."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._counted_to = 0
        self._line_feeds = 0

    def location(self, offset: int) -> str:
        """In which line the byte at `offset` is; offsets must not decrease from call to call."""
        if offset > _NUMBERED_BYTES:
            return f"line at byte {offset}"
        while self._counted_to < offset:
            self._file.seek(self._counted_to)
            chunk = self._file.read(min(_CHUNK, offset - self._counted_to))
            if not chunk:
                break
            self._line_feeds += chunk.count(b"\n")
            self._counted_to += len(chunk)
        return f"line {self._line_feeds + 1}"
