"""Read search calls from JSON Lines: one object a line, UTF-8 (SPEC 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from msgspec import Struct

from transforms.core.errors import RecordError
from transforms.core.files.compression import Compression, DamagedStreamError, decompressed
from transforms.core.files.lines import LONGEST_LINE, LineSplitter, LongLine
from transforms.core.files.shard import FileShard
from transforms.core.parsing import conversation_id_in, parse_json
from transforms.core.records import SearchCall
from transforms.core.rejected import RejectedRecord, payload_of_bytes, rejected_for

_CHUNK = 1024 * 1024
_TAIL_CHUNK = 64 * 1024
# To number a line, the file before it is read again; beyond this, a line is named by its byte.
_NUMBERED_BYTES = 1024 * 1024 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_jsonl(file: BinaryIO, shard: FileShard) -> Iterator[SearchCall | RejectedRecord]:
    """The records of a shard in file order; blank lines are none.

    A line above 64 MiB is rejected without being held. Where a compressed file breaks off, the
    unfinished line is one rejected row.

    Args:
      file: the file, open for reading and, unless compressed, seekable.
      shard: the part to read.

    Raises:
      OSError: the file cannot be read.
    """
    if shard.compression is Compression.NONE:
        places = _LinePlaces(file)
        return _records(shard, _plain_lines(file, shard), places.of, first=0)
    lines = _decompressed_lines(file, shard.compression)
    return _records(shard, lines, "line {}".format, first=1)


class _CutOffLine(Struct, frozen=True):
    """The unfinished line at which a compressed stream breaks off."""

    head: bytes
    problem: str


_Line = bytes | LongLine | _CutOffLine


def _records(
    shard: FileShard,
    lines: Iterator[tuple[int, _Line]],
    place: Callable[[int], str],
    first: int,
) -> Iterator[SearchCall | RejectedRecord]:
    """Parse lines, each given after its number or offset; `first` is that of the file's first."""
    for where, line in lines:
        parsed = _parsed(line, where == first)
        if isinstance(parsed, SearchCall):
            yield parsed
        elif parsed is not None:
            raw = line if isinstance(line, bytes) else line.head
            yield rejected_for(shard.path, place(where), parsed, payload_of_bytes(raw))


def _parsed(line: _Line, is_first: bool) -> SearchCall | RecordError | None:
    """The record of a line, why it cannot be used, or None when the line is blank."""
    if isinstance(line, _CutOffLine):
        reason = f"The file cannot be read from this line on: {line.problem}."
        return RecordError(reason, None, conversation_id_in(line.head))
    if isinstance(line, LongLine):
        reason = f"The line is {line.length} bytes long; at most {LONGEST_LINE} are read."
        return RecordError(reason, None, conversation_id_in(line.head))
    if is_first:
        line = line.removeprefix(_BYTE_ORDER_MARK)
    if not line or line.isspace():
        return None
    try:
        return parse_json(line)
    except RecordError as error:
        return error


def _decompressed_lines(file: BinaryIO, compression: Compression) -> Iterator[tuple[int, _Line]]:
    """Each line after its number, counted from 1."""
    splitter = LineSplitter()
    number = 0
    try:
        for piece in decompressed(file, compression):
            for line in splitter.feed(piece):
                number += 1
                yield number, line
    except DamagedStreamError as error:
        begun = splitter.take()
        head = begun.head if isinstance(begun, LongLine) else begun
        yield number + 1, _CutOffLine(head, str(error))
        return
    yield number + 1, splitter.take()


def _plain_lines(file: BinaryIO, shard: FileShard) -> Iterator[tuple[int, bytes | LongLine]]:
    """Each line that begins in the shard, after the offset of its first byte."""
    begin = _first_line(file, shard)
    if begin is None:
        return
    splitter = LineSplitter()
    offset = position = begin
    while offset < shard.end:
        # Past the end of the shard only the rest of its last line is wanted.
        wanted = min(_CHUNK, shard.end - position) if position < shard.end else _TAIL_CHUNK
        file.seek(position)
        chunk = file.read(wanted)
        position += len(chunk)
        lines = splitter.feed(chunk) if chunk else [splitter.take()]
        for line in lines:
            if offset >= shard.end:
                return
            yield offset, line
            offset += 1 + (line.length if isinstance(line, LongLine) else len(line))
        if not chunk:
            return


def _first_line(file: BinaryIO, shard: FileShard) -> int | None:
    """Offset of the first line that begins in the shard, or None when none does."""
    if shard.start == 0:
        return 0
    position = shard.start - 1
    while position < shard.end - 1:
        file.seek(position)
        chunk = file.read(min(_CHUNK, shard.end - 1 - position))
        if not chunk:
            return None
        found = chunk.find(b"\n")
        if found >= 0:
            return position + found + 1
        position += len(chunk)
    return None


class _LinePlaces:
    """Line numbers of a shard, counted from the start of the file when one is first asked for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._counted_to = 0
        self._line_feeds = 0

    def of(self, offset: int) -> str:
        """Where the line at `offset` stands; offsets must not fall from call to call."""
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
