"""Finds the blocks of an Avro object container file, even around damage.

The header is `Obj`, a map of metadata and the sync marker. A block is two numbers (records, bytes),
its data and the sync marker of 16 bytes. The marker makes a file splittable, and lets a reader
resume after damage (SPEC 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, Generic, TypeVar

from msgspec import Struct

from goodgain.transforms.core.files.avro_codecs import DamagedBlockError, too_large
from goodgain.transforms.core.files.avro_header import SYNC_BYTES, Header
from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.files.file_window import FileWindow
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.files.varint import read_zigzag

_LONGEST_BLOCK_HEADER = 20
_MOST_RECORDS_PER_BYTE = 64  # for the smallest records, compressed
_MOST_DATA_KEPT = 8192
_ENOUGH_DATA = 4 * 1024 * 1024  # of blocks that are decoded together
_DAMAGED_HEADER = (
    "The header of this Avro block does not fit its data, so all up to the next intact block is "
    "lost: an unknown number of records, which counts as one."
)

Block = TypeVar("Block")


class RawBlock(Struct, frozen=True):
    """A block between two sync markers, not decoded.

    Attributes:
      offset: offset of its first byte.
      data: as compressed by the codec of the file.
      end: offset of the marker after it.
    """

    offset: int
    records: int
    data: bytes
    end: int


# Decodes consecutive blocks; an error stands for one that does not decode.
Decode = Callable[[Sequence[RawBlock]], Iterator[Block | DamagedBlockError]]


class DamagedStretch(Struct, frozen=True):
    """Bytes that cannot be read as a block.

    Attributes:
      offset: offset of the first byte.
      records: the number of records in its header; 1 if that is not plausible.
      reason: the damage, in one sentence.
      data: the first bytes.
      at_least: whether more records than `records` may be lost.
    """

    offset: int
    records: int
    reason: str
    data: bytes
    at_least: bool = False


def blocks_in(
    file: BinaryIO,
    header: Header,
    decode: Decode[Block],
    shard: FileShard,
    most_together: int = 1,
) -> Iterator[Block | DamagedStretch]:
    """The blocks whose leading sync marker begins in the shard.

    After a damaged block, reading resumes at the next marker. If only a marker is damaged, the
    blocks before and after it are read, both by the shard with the last intact marker. A block with
    more data than the bounds of the shard allow is not read.

    Args:
      most_together: most blocks for one call of `decode`.
    """
    window = FileWindow(file)
    reader = _BlockReader(window, header.sync, decode, shard.bounds)
    marker = window.find(header.sync, max(shard.start, header.first_block - SYNC_BYTES))
    while marker is not None and marker < shard.end:
        if intact := reader.read_intact(marker, shard.end, most_together):
            yield from reader.decode_intact(intact)
            marker = intact[-1].end
            del intact  # before as much is read again
            continue
        offset = marker + SYNC_BYTES
        marker = None
        while marker is None and offset < window.size:
            blocks, offset, marker = reader.read(offset)
            yield from blocks


class _BlockReader(Struct, Generic[Block]):
    """Reads single blocks.

    Its methods for single ones return the blocks and damaged stretches from an offset on,
    the offset after them, and the intact marker before that offset.
    """

    window: FileWindow
    sync: bytes
    decode: Decode[Block]
    bounds: ReadBounds

    def read_intact(self, marker: int, end: int, most: int) -> list[RawBlock]:
        """Consecutive intact blocks, at most `most`; the first is after the marker at an offset.

        Args:
          end: the leading marker of each begins before it.
        """
        found: list[RawBlock] = []
        size = 0
        while marker < end and len(found) < most and size < _ENOUGH_DATA:
            block = self._read_intact_at(marker + SYNC_BYTES)
            if block is None:
                break
            found.append(block)
            size += len(block.data)
            marker = block.end
        return found

    def _read_intact_at(self, offset: int) -> RawBlock | None:
        header = _block_header(self.window.at(offset, _LONGEST_BLOCK_HEADER))
        if header is None:
            return None
        records, size, length = header
        end = offset + length + size
        if end > self.window.size or size > self.bounds.max_decoded_bytes:
            return None
        raw = self.window.at(offset, length + size + SYNC_BYTES)
        if raw[length + size :] != self.sync:
            return None
        return RawBlock(offset, records, raw[length : length + size], end)

    def decode_intact(self, intact: Sequence[RawBlock]) -> Iterator[Block | DamagedStretch]:
        """Decode intact blocks."""
        for raw, block in zip(intact, self.decode(intact), strict=True):
            if isinstance(block, DamagedBlockError):
                yield self._damaged_stretch(
                    raw.offset, _claimed_records(raw.records, len(raw.data)), block, raw.data
                )
            else:
                yield block

    def read(self, offset: int) -> tuple[list[Block | DamagedStretch], int, int | None]:
        """Read the block at `offset`."""
        intact = self._read_intact_at(offset)
        if intact is not None:
            return list(self.decode_intact([intact])), intact.end + SYNC_BYTES, intact.end
        window, largest = self.window, self.bounds.max_decoded_bytes
        header = _block_header(window.at(offset, _LONGEST_BLOCK_HEADER))
        if header is None:
            return self._skip(offset, 1, _DAMAGED_HEADER)
        records, size, length = header
        end = offset + length + size
        claimed = _claimed_records(records, size)
        if end > window.size:
            if window.find(self.sync, offset) is not None:
                return self._skip(offset, 1, _DAMAGED_HEADER)
            return self._skip(offset, claimed, "The file ends inside this Avro block.")
        if size > largest:
            if window.at(end, SYNC_BYTES) != self.sync:
                return self._skip(offset, 1, _DAMAGED_HEADER)
            data = window.at(offset + length, _MOST_DATA_KEPT)
            damaged = self._damaged_stretch(offset, claimed, too_large(largest), data)
            return [damaged], end + SYNC_BYTES, end
        raw = RawBlock(offset, records, window.at(offset + length, size), end)
        return self._read_without_marker(raw)

    def _read_without_marker(
        self, raw: RawBlock
    ) -> tuple[list[Block | DamagedStretch], int, int | None]:
        """Distinguish a block with a damaged or missing marker from one with a wrong header."""
        window, offset, end = self.window, raw.offset, raw.end
        marker = window.find(self.sync, offset)
        if marker is not None and marker < end:
            return self._skip(offset, 1, _DAMAGED_HEADER)
        (block,) = self.decode([raw])
        if isinstance(block, DamagedBlockError):
            return self._skip(offset, 1, _DAMAGED_HEADER)
        blocks: list[Block | DamagedStretch] = [block]
        if end + SYNC_BYTES > window.size:
            rest = window.at(end, SYNC_BYTES)
            reason = "The file ends inside the marker after an Avro block; more may have followed."
            blocks.append(DamagedStretch(end, 1, reason, rest, at_least=True))
        return blocks, end + SYNC_BYTES, None

    def _skip(
        self, offset: int, records: int, reason: str
    ) -> tuple[list[Block | DamagedStretch], int, int | None]:
        """Skip to the next marker."""
        marker = self.window.find(self.sync, offset)
        end = self.window.size if marker is None else marker + SYNC_BYTES
        data = self.window.at(offset, min(end - offset, _MOST_DATA_KEPT))
        return [DamagedStretch(offset, records, reason, data, at_least=True)], end, marker

    def _damaged_stretch(
        self, offset: int, claimed: int, error: DamagedBlockError, data: bytes
    ) -> DamagedStretch:
        records = claimed if error.records is None else max(1, min(claimed, error.records))
        remedy = "; to read it, " + self.bounds.remedy if error.too_large else ""
        reason = f"This Avro block is damaged: {error}" + remedy + "."
        return DamagedStretch(offset, records, reason, data[:_MOST_DATA_KEPT])


def _claimed_records(records: int, size: int) -> int:
    """The number of records that a header claims for so many bytes, or 1 if they cannot fit."""
    return records if 0 < records <= _MOST_RECORDS_PER_BYTE * size else 1


def _block_header(data: bytes) -> tuple[int, int, int] | None:
    """Number of records, bytes of data, and length of the header itself; None if damaged."""
    try:
        records, end = read_zigzag(data, 0)
        size, end = read_zigzag(data, end)
    except (IndexError, ValueError):
        return None
    return None if records < 0 or size < 0 else (records, size, end)
