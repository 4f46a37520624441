"""Splits a stream of bytes into lines; keeps only the beginning of lines above a limit (SPEC 2)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

_KEPT_OF_LONG_LINE = 64 * 1024


class LongLine(Struct, frozen=True):
    """A line above the limit: its first bytes, and its whole length, also given by `len`."""

    head: bytes
    length: int

    def __len__(self) -> int:
        return self.length


class LineSplitter:
    """Splits pieces of any size into lines.

    An incomplete line waits for the next piece. Once it is longer than the limit, only its
    beginning is kept, and its length counted.
    """

    def __init__(self, limit: int) -> None:
        """Keep lines of at most `limit` bytes as a whole."""
        self._limit = limit
        self._pending: list[bytes] = []
        self._length = 0

    def feed(self, piece: bytes) -> list[bytes | LongLine]:
        """The lines that `piece` completes: first the pending one, then a stretch of the others.

        A stretch is lines with line feeds between them, none after the last; `lines_of` splits it,
        and checks the limit for its lines. Here it is checked only for the pending line.
        """
        last = piece.rfind(b"\n")
        completed: list[bytes | LongLine] = []
        begin = 0
        if self._length and last >= 0:
            begin = piece.find(b"\n") + 1
            self._extend(piece[: begin - 1])
            completed.append(self.take())
        if begin <= last:
            completed.append(piece[begin:last])
        self._extend(piece[last + 1 :])
        return completed

    def take(self) -> bytes | LongLine:
        """The bytes since the last line feed; may be empty."""
        pending, length = self._pending, self._length
        self._pending, self._length = [], 0
        if length > self._limit:
            return LongLine(pending[0], length)
        return pending[0] if len(pending) == 1 else b"".join(pending)

    def _extend(self, part: bytes) -> None:
        if not part:
            return
        self._length += len(part)
        self._pending.append(part)
        if self._length > self._limit:
            self._pending = [_head_of(self._pending)]


def lines_of(stretch: bytes, limit: int) -> Iterator[bytes | LongLine]:
    """The lines of a stretch (see `LineSplitter.feed`)."""
    for line in stretch.split(b"\n"):
        if len(line) > limit:
            yield LongLine(line[:_KEPT_OF_LONG_LINE], len(line))
        else:
            yield line


def _head_of(parts: list[bytes]) -> bytes:
    head = b""
    for part in parts:
        if len(head) >= _KEPT_OF_LONG_LINE:
            break
        head += part[: _KEPT_OF_LONG_LINE - len(head)]
    return head
