"""The interface of native code that packs a file's records without making `SearchCall`s."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from msgspec import Struct

from goodgain.transforms.core.files.avro_plan import AvroPlan
from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall

# From a record's index in its block and its bytes to the call, or to the row if it is rejected.
ReadRecord = Callable[[int, bytes], SearchCall | RejectedRecord]
# The data of a compressed block, its number of records, and what parses single ones.
BlockToPack = tuple[bytes, int, ReadRecord]


class PackedBlock(Struct, frozen=True):
    """Records that were packed from the bytes of a file.

    Attributes:
      packed: the output of the packer.
      timestamps: those of the records in milliseconds, in input order; at least one in a stream,
        none in batch.
    """

    packed: list[Any]
    timestamps: list[int]


class Stop(NamedTuple):
    """Where packing of an array stopped.

    Attributes:
      at: offset of the next element, or of what is in its place; None behind the last.
      is_odd: whether native code cannot read that.
      packed: number of elements packed.
    """

    at: int | None
    is_odd: bool
    packed: int


RecordOrPacked: TypeAlias = SearchCall | RejectedRecord | PackedBlock
# Records left out of a block, each after so many of the others.
LeftOut = list[tuple[int, SearchCall | RejectedRecord]]


class RecordPacker(Protocol):
    """Packs records from the bytes of a file.

    In a stream each is at its own timestamp, and records without one are left to the caller.

    Attributes:
      most_ahead: how many blocks `pack_blocks` decompresses before their turn; 0 if it is not to be
        called.
    """

    most_ahead: int

    def can_read(self, adaptation: Adaptation | None, bounds: ReadBounds) -> bool:
        """Whether it can pack records with such names within all of these bounds.

        Else nothing below is to be called.
        """

    def prepare(self, plan: AvroPlan, adaptation: Adaptation | None) -> Any | None:
        """Prepare `pack_block` for the blocks of one file; returns its argument `prepared`.

        None if it cannot pack them.
        """

    def pack_block(
        self, prepared: Any, content: bytes, count: int, read: ReadRecord
    ) -> list[RecordOrPacked] | None:
        """Pack the `count` records of a decompressed block; None if it cannot pack them.

        Single records that it cannot parse are parsed by `read`. Among its output are the rejected
        records and those left to the caller, in a stream in their places.
        """

    def pack_blocks(
        self, prepared: Any, codec: str, blocks: Sequence[BlockToPack], most: int
    ) -> Iterator[list[RecordOrPacked]]:
        """Like `pack_block` for consecutive blocks by several threads, still compressed.

        Ends before a block that it cannot pack, or that has more than `most` bytes decompressed.
        What it yields for a block must be added before the next.
        """

    def pack_lines(
        self, lines: bytes, begin: int, bounds: ReadBounds, adaptation: Adaptation | None
    ) -> tuple[PackedBlock | None, int | None]:
        """Pack lines of JSON from an offset up to the first that it cannot parse.

        Returns:
          Its output if there is any, and the offset of the line at which it stopped; None if it
          packed all.
        """

    def pack_elements(
        self, array: bytes, begin: int, bounds: ReadBounds, adaptation: Adaptation | None
    ) -> tuple[PackedBlock | None, Stop]:
        """Like `pack_lines`, but for some elements of a JSON array."""

    def prepare_rows(self, columns: Any, count: int, adaptation: Adaptation | None) -> Any:
        """Prepare `pack_rows` for `count` rows from `native_columns`; None if it cannot."""

    def pack_rows(
        self, prepared: Any, begin: int, most_results: int
    ) -> tuple[PackedBlock | None, int | None]:
        """Like `pack_lines`, but for rows by number."""


def order_output(
    packed: list[Any],
    timestamps: list[int],
    left_out: LeftOut,
) -> list[RecordOrPacked]:
    """The output for a block with the records left out of it, each in its place."""
    ordered: list[RecordOrPacked] = []
    begin = 0
    for place, record in left_out:
        if timestamps[begin:place]:
            ordered.append(PackedBlock(packed, timestamps[begin:place]))
            packed, begin = [], place
        ordered.append(record)
    if packed or timestamps[begin:]:
        ordered.append(PackedBlock(packed, timestamps[begin:]))
    return ordered
