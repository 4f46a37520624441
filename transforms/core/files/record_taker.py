"""What takes the records of a file in by itself, so that no search calls are made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.files.avro_plan import AvroPlan
from goodgain.transforms.core.records.rejected import RejectedRecord, rejected_for
from goodgain.transforms.core.records.search_call import SearchCall

# From the place of a record in its block and its bytes to the call; for one that is rejected, to
# the conversation that it names.
ReadRecord = Callable[[int, bytes], SearchCall | str | None]


class TakenBlock(Struct, frozen=True):
    """What came of records that were taken in together.

    Attributes:
      given: what the taker gave.
      rejected: rows for records that it could not take; it knows of them.
    """

    given: list[Any]
    rejected: list[RejectedRecord]


class Refusal(Struct, frozen=True):
    """A record of a block that cannot be used: its place, why, and what it held."""

    index: int
    error: RecordError
    payload: str


class Taken(list[Any]):
    """In the place of a block's records: what its taker gave, and the refusals."""

    def __init__(self, given: list[Any], refusals: list[Refusal]) -> None:
        super().__init__(given)
        self.refusals = refusals

    def block(self, path: str, offset: int) -> TakenBlock:
        """The same of the block of a file that begins at a byte."""
        rejected = [
            rejected_for(path, place_of(offset, one.index), one.error, one.payload)
            for one in self.refusals
        ]
        return TakenBlock(self, rejected)


def place_of(offset: int, index: int) -> str:
    """Where a record of a block stands, for people."""
    return f"block at byte {offset}, record {index}"


class RecordTaker(Protocol):
    """Takes in records as they stand in a file."""

    def prepare(self, plan: AvroPlan) -> Any:
        """Whatever `take` needs for blocks of one file."""

    def take(self, prepared: Any, content: bytes, count: int, read: ReadRecord) -> list[Any] | None:
        """Take in all records of a block, or none of them and give None.

        Args:
          prepared: from `prepare`.
          content: the records, decompressed.
          count: how many they are.
          read: for single records that the taker does not read itself.
        """

    def take_lines(
        self, lines: bytes, begin: int, longest: int, most_results: int
    ) -> tuple[list[Any], int | None]:
        """Take in lines of JSON from an offset on, up to the first that it does not read itself.

        Args:
          lines: with line feeds between them.
          begin: offset of a line.
          longest: bytes that a line may have which it reads.
          most_results: what a record may have which it reads.

        Returns:
          What it gives, and the offset of the line at which it stopped; None when it took in all.
        """

    def prepare_rows(self, described: Any, count: int) -> Any:
        """Whatever `take_rows` needs for so many rows, described by `arrow_buffers`, or None."""

    def take_rows(
        self, prepared: Any, begin: int, most_results: int
    ) -> tuple[list[Any], int | None]:
        """As `take_lines`, of rows by their numbers."""
