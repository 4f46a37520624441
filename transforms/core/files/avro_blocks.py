"""Finds the blocks of an Avro object container file, even around damage (SPEC 2).

A block is two numbers (records, bytes), its data and the file's sync marker of 16 bytes. The marker
makes a file splittable, and lets a reader resume after damage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from msgspec import Struct

from goodgain.transforms.core.files.avro_codecs import DamagedBlockError, too_large
from goodgain.transforms.core.files.bounds import ReadBounds

SYNC_BYTES = 16
_WINDOW = 1024 * 1024
_LONGEST_BLOCK_HEADER = 20
_MOST_RECORDS_A_BYTE = 64  # for the smallest records, compressed
_KEPT = 8192


Decode = Callable[[bytes, int], list[Any]]


class DecodedBlock(Struct, frozen=True):
    """The records of one block, and the offset of its first byte."""

    offset: int
    records: list[Any]


class DamagedStretch(Struct, frozen=True):
    """Bytes that cannot be read as a block.

    Attributes:
      offset: offset of the first byte.
      records: the number of records in its header; 1 if that is not plausible.
      reason: the damage, in one sentence.
      data: the first bytes.
    """

    offset: int
    records: int
    reason: str
    data: bytes


def blocks_in(
    file: BinaryIO,
    sync: bytes,
    decode: Decode,
    first_block: int,
    start: int,
    end: int,
    bounds: ReadBounds,
) -> Iterator[DecodedBlock | DamagedStretch]:
    """The blocks whose leading sync marker begins in [start, end).

    After a damaged block, reading resumes at the next marker. If only a marker is damaged, the
    blocks before and after it are read, both by the shard with the last intact marker.

    Args:
      file: seekable.
      sync: the file's sync marker.
      decode: turns the data of a block and its number of records into the records; raises
        DamagedBlockError.
      first_block: offset of the file's first block, right after the marker in the header.
      start: first byte of the shard.
      end: the byte after its last.
      bounds: limits on the data in a block; larger blocks are not read.
    """
    window = _Window(file)
    marker = window.find(sync, max(start, first_block - SYNC_BYTES))
    while marker is not None and marker < end:
        offset = marker + SYNC_BYTES
        marker = None
        while marker is None and offset < window.size:
            found, offset, marker = _block_at(window, sync, decode, offset, bounds)
            yield from found


_Found = list[DecodedBlock | DamagedStretch]


def _block_at(
    window: _Window, sync: bytes, decode: Decode, offset: int, bounds: ReadBounds
) -> tuple[_Found, int, int | None]:
    """The finds at `offset`, the offset after them, and the intact marker before that offset."""
    header = _block_header(window.at(offset, _LONGEST_BLOCK_HEADER))
    if header is None:
        return _skip(window, sync, offset, 1, "The header of this Avro block is damaged.")
    records, size, length = header
    behind = offset + length + size
    lost = _plausible(records, size)
    if behind > window.size:
        if window.find(sync, offset) is not None:
            return _skip(window, sync, offset, 1, "The header of this Avro block is damaged.")
        return _skip(window, sync, offset, lost, "The file ends inside this Avro block.")
    largest = bounds.decoded_bytes
    if size > largest and window.at(behind, SYNC_BYTES) == sync:
        data = window.at(offset + length, _KEPT)
        stretch = _damaged(offset, lost, too_large(largest), data, bounds)
        return [stretch], behind + SYNC_BYTES, behind
    if size > largest:
        return _skip(window, sync, offset, 1, "The header of this Avro block is damaged.")
    raw = window.at(offset, length + size + SYNC_BYTES)
    data = raw[length : length + size]
    if raw[length + size :] == sync:
        found: _Found
        try:
            found = [DecodedBlock(offset, decode(data, records))]
        except DamagedBlockError as error:
            found = [_damaged(offset, lost, error, data, bounds)]
        return found, behind + SYNC_BYTES, behind
    return _block_without_marker(window, sync, decode, offset, records, data, behind)


def _block_without_marker(
    window: _Window,
    sync: bytes,
    decode: Decode,
    offset: int,
    records: int,
    data: bytes,
    behind: int,
) -> tuple[_Found, int, int | None]:
    """Distinguish a block with a damaged or missing marker from one with a wrong header."""
    marker = window.find(sync, offset)
    try:
        if marker is not None and marker < behind:
            raise DamagedBlockError("it contains a marker")
        found: _Found = [DecodedBlock(offset, decode(data, records))]
    except DamagedBlockError:
        return _skip(window, sync, offset, 1, "The header of this Avro block is damaged.")
    if behind + SYNC_BYTES > window.size:
        rest = window.at(behind, SYNC_BYTES)
        reason = "The file ends inside the marker after an Avro block; more may have followed."
        found.append(DamagedStretch(behind, 1, reason, rest))
    return found, behind + SYNC_BYTES, None


def _damaged(
    offset: int, claimed: int, error: DamagedBlockError, data: bytes, bounds: ReadBounds
) -> DamagedStretch:
    records = claimed if error.records is None else max(1, min(claimed, error.records))
    remedy = f"; to read it, {bounds.remedy}" if error.too_large else ""
    reason = f"This Avro block is damaged: {error}{remedy}."
    return DamagedStretch(offset, records, reason, data[:_KEPT])


def _plausible(records: int, size: int) -> int:
    """The number of records in a header; 1 if they cannot fit."""
    return records if 0 < records <= _MOST_RECORDS_A_BYTE * size else 1


def _skip(
    window: _Window, sync: bytes, offset: int, records: int, reason: str
) -> tuple[_Found, int, int | None]:
    marker = window.find(sync, offset)
    behind = window.size if marker is None else marker + SYNC_BYTES
    data = window.at(offset, min(behind - offset, _KEPT))
    return [DamagedStretch(offset, records, reason, data)], behind, marker


def _block_header(data: bytes) -> tuple[int, int, int] | None:
    """Number of records, bytes of data, and length of the header itself; None if damaged."""
    records, length = _long(data, 0)
    size, length = _long(data, length)
    if length > len(data) or records < 0 or size < 0:
        return None
    return records, size, length


def _long(data: bytes, position: int) -> tuple[int, int]:
    """A zigzag number at `position`, and the position after it (past the end if truncated)."""
    value = shift = 0
    while position < len(data):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position
        shift += 7
    return 0, len(data) + 1


class _Window:
    """Random access to a file, read in large pieces."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = file.seek(0, 2)
        self._start = 0
        self._held = b""

    def at(self, offset: int, length: int) -> bytes:
        """The bytes from `offset`; fewer than `length` at the end of the file."""
        begin = offset - self._start
        if begin < 0 or begin + length > len(self._held):
            self._file.seek(offset)
            self._held = self._file.read(max(length, _WINDOW))
            self._start, begin = offset, 0
        return self._held[begin : begin + length]

    def find(self, wanted: bytes, offset: int) -> int | None:
        """Offset of the first occurrence of `wanted` from `offset` on."""
        while offset < self.size:
            found = self.at(offset, _WINDOW).find(wanted)
            if found >= 0:
                return offset + found
            offset += _WINDOW - len(wanted) + 1
        return None
