"""Splits a stream of bytes into lines, keeping at most a limit of each (SPEC 2)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

_KEPT_OF_LONG_LINE = 64 * 1024


class LongLine(Struct, frozen=True):
    """A line above the limit: its first bytes and its total length."""

    head: bytes
    length: int


class LineSplitter:
    """Makes lines from pieces of any size.

    An incomplete line waits for the next piece. Once it is longer than the limit, only its
    beginning is kept, and its length counted.
    """

    def __init__(self, limit: int) -> None:
        """A splitter for lines of at most `limit` bytes."""
        self._limit = limit
        self._pending: list[bytes] = []
        self._length = 0

    def feed(self, piece: bytes) -> list[bytes | LongLine]:
        """The lines completed by `piece`, in stretches without the last line feed.

        The limit is checked only for lines that span several pieces; `lines_of` checks the others.
        """
        last = piece.rfind(b"\n")
        found: list[bytes | LongLine] = []
        begin = 0
        if self._length and last >= 0:
            begin = piece.find(b"\n") + 1
            self._extend(piece[: begin - 1])
            found.append(self.take())
        if begin <= last:
            found.append(piece[begin:last])
        self._extend(piece[last + 1 :])
        return found

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
    """The lines of a stretch."""
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
