"""Random access to a file that is read in large pieces."""

from __future__ import annotations

from typing import BinaryIO

_WINDOW = 1024 * 1024  # bytes


class FileWindow:
    """Random access to a file, read in large pieces."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = file.seek(0, 2)
        self._start = 0
        self._bytes = b""

    def at(self, offset: int, length: int) -> bytes:
        """The bytes from `offset`; fewer than `length` at the end of the file."""
        begin = offset - self._start
        if begin < 0 or begin + length > len(self._bytes):
            self._file.seek(offset)
            self._bytes = self._file.read(max(length, _WINDOW))
            self._start, begin = offset, 0
        return self._bytes[begin : begin + length]

    def find(self, marker: bytes, offset: int) -> int | None:
        """Offset of the first occurrence of `marker` from `offset` on."""
        while offset < self.size:
            index = self.at(offset, _WINDOW).find(marker)
            if index >= 0:
                return offset + index
            offset += _WINDOW - len(marker) + 1
        return None
