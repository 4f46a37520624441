"""The interface of native code that packs a file's records without making `SearchCall`s."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from goodgain.transforms.core.files.avro_plan import AvroPlan
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall

# From a record's index in its block and its bytes to the call; for a rejected record, to its
# conversation_id, if any.
ReadRecord = Callable[[int, bytes], SearchCall | str | None]


class PackedBlock(Struct, frozen=True):
    """The outcome of a block of records.

    Attributes:
      packed: the output of the packer.
      rejected: rows for rejected records, whose conversations the packer has flagged.
    """

    packed: list[Any]
    rejected: list[RejectedRecord]


class TimedBlock(Struct, frozen=True):
    """Records of a stream, packed each at its own time.

    Attributes:
      packed: the output of the packer.
      timestamps: those of the records in milliseconds, in input order; at least one.
    """

    packed: list[Any]
    timestamps: list[int]


TimedRecord: TypeAlias = SearchCall | RejectedRecord | TimedBlock  # of a stream


class RecordPacker(Protocol):
    """Packs records from the bytes of a file."""

    def prepare(self, plan: AvroPlan) -> Any:
        """Prepare `pack_block` for the blocks of one file; returns its argument `prepared`."""

    def pack_block(
        self, prepared: Any, content: bytes, count: int, read: ReadRecord
    ) -> list[Any] | None:
        """Pack all `count` records of a decompressed block; None if it cannot pack them.

        Single records that it cannot parse are parsed by `read`.
        """

    def pack_lines(
        self, lines: bytes, begin: int, longest: int, most_results: int
    ) -> tuple[list[Any], int | None]:
        """Pack lines of JSON from an offset up to the first that it cannot parse.

        Args:
          longest, most_results: most bytes of a line, and results of a record, to parse.

        Returns:
          Its output, and the offset of the line at which it stopped; None if it packed all.
        """

    def prepare_rows(self, columns: Any, count: int) -> Any:
        """Prepare `pack_rows` for `count` rows from `native_columns`; None if it cannot."""

    def pack_rows(
        self, prepared: Any, begin: int, most_results: int
    ) -> tuple[list[Any], int | None]:
        """Like `pack_lines`, but for rows by number."""
