"""The interface of native code that packs records of a file without making `SearchCall`s."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.files.avro_plan import AvroPlan
from goodgain.transforms.core.records.rejected import RejectedRecord, rejected_for
from goodgain.transforms.core.records.search_call import SearchCall

# Takes a record's index in its block and its bytes; returns the call, or of a rejected record the
# conversation_id if there is one.
ReadRecord = Callable[[int, bytes], SearchCall | str | None]


class TakenBlock(Struct, frozen=True):
    """The outcome of records that were packed together.

    Attributes:
      packed: the output of the taker.
      rejected: rows for rejected records; the taker has flagged their conversations.
    """

    packed: list[Any]
    rejected: list[RejectedRecord]


class Refusal(Struct, frozen=True):
    """A record of a block that cannot be used: its index, the error, and its content."""

    index: int
    error: RecordError
    payload: str


class Taken(list[Any]):
    """The output of the taker for a block, and the records that it refused."""

    def __init__(self, packed: list[Any], refusals: list[Refusal]) -> None:
        super().__init__(packed)
        self.refusals = refusals

    def block(self, path: str, offset: int) -> TakenBlock:
        """The same, with rejected rows that name the file and the offset of the block."""
        rejected = [
            rejected_for(path, place_of(offset, one.index), one.error, one.payload)
            for one in self.refusals
        ]
        return TakenBlock(self, rejected)


def place_of(offset: int, index: int) -> str:
    """The position of a record of a block, for people."""
    return f"block at byte {offset}, record {index}"


class RecordTaker(Protocol):
    """Packs records from the bytes of a file."""

    def prepare(self, plan: AvroPlan) -> Any:
        """Prepare `take` for the blocks of one file; returns its argument `prepared`."""

    def take(self, prepared: Any, content: bytes, count: int, read: ReadRecord) -> list[Any] | None:
        """Pack all records of a block; None if it cannot pack them.

        Args:
          prepared: from `prepare`.
          content: the records, decompressed.
          count: how many they are.
          read: parses single records that the taker cannot.
        """

    def take_lines(
        self, lines: bytes, begin: int, longest: int, most_results: int
    ) -> tuple[list[Any], int | None]:
        """Pack lines of JSON from an offset on, up to the first that it cannot parse.

        Args:
          lines: separated by line feeds.
          begin: offset of a line.
          longest: bytes of the longest line that it may parse.
          most_results: results of the largest record that it may parse.

        Returns:
          Its output, and the offset of the line at which it stopped; None if it packed all.
        """

    def prepare_rows(self, described: Any, count: int) -> Any:
        """Prepare `take_rows` for rows described by `arrow_buffers`; None if it cannot."""

    def take_rows(
        self, prepared: Any, begin: int, most_results: int
    ) -> tuple[list[Any], int | None]:
        """As `take_lines`, but for rows, by their numbers."""
