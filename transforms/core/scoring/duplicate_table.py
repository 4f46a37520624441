"""The duplicates of a turn as numbers, and their rows (SPEC 6).

Native code makes the numbers, and whole files are written from them: rows one by one cost more than
finding the duplicates.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from msgspec import Struct

from goodgain.transforms.core.dedup.verification import Step
from goodgain.transforms.core.scoring.score_rows import DuplicateRow

COLUMNS = (
    "i", "call_position", "rank", "first_i", "first_call_position", "first_rank",
    "entity_type", "gain", "first_gain", "key", "step", "clause",
)  # fmt: skip
STEPS = tuple(step.value for step in Step)
_NONE = -1
_ROWS = {size: struct.Struct(f"<{len(COLUMNS)}{code}") for size, code in ((1, "b"), (4, "i"))}
_OF_ONE_BYTE = range(-(2**7), 2**7)


class DuplicateTable(Struct, frozen=True, array_like=True):
    """The duplicates of a turn in order.

    Attributes:
      names: the names of entity types and keys in the rows, in the order of their first use.
      packed: for each row its numbers by `COLUMNS`, as signed integers in little-endian order:
        `entity_type` and `key` are indexes of `names`, `step` is one of `STEPS`, and -1 is null.
      number_bytes: the size of each number: 1 if that is enough for all of them, else 4.
    """

    names: list[str]
    packed: bytes
    number_bytes: int

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return len(self.packed) // _ROWS[self.number_bytes].size

    def rows(
        self, conversation_id: str, turn: int, iterations: Sequence[int]
    ) -> Iterator[DuplicateRow]:
        """The rows of a conversation's last turn; `iterations` has the raw numbers of i = 1..N."""
        for numbers in _ROWS[self.number_bytes].iter_unpack(self.packed):
            i, call, rank, first_i, first_call, first_rank, *rest = numbers
            entity_type, gain, first_gain, key, step, clause = rest
            yield DuplicateRow(
                conversation_id,
                turn,
                i,
                iterations[i - 1],
                call,
                rank,
                first_i,
                iterations[first_i - 1],
                first_call,
                first_rank,
                None if entity_type == _NONE else self.names[entity_type],
                _drop_unknown(gain),
                _drop_unknown(first_gain),
                self.names[key],
                STEPS[step],
                _drop_unknown(clause),
            )


class TableBuilder:
    """Makes a `DuplicateTable` row by row."""

    def __init__(self) -> None:
        """Begin without rows."""
        self._numbers: dict[tuple[str, str], int] = {}
        self._rows: list[tuple[int, ...]] = []

    def add(
        self,
        place: tuple[int, int, int],
        first_place: tuple[int, int, int],
        entity_type: str | None,
        gain: int | None,
        first_gain: int | None,
        key: str,
        step: Step,
        clause: int | None,
    ) -> None:
        """Add a row; a place is i, call_position and rank."""
        self._rows.append(
            (
                *place,
                *first_place,
                _NONE if entity_type is None else self._number("entity_type", entity_type),
                _number(gain),
                _number(first_gain),
                self._number("key", key),
                STEPS.index(step),
                _number(clause),
            )
        )

    def table(self) -> DuplicateTable:
        """All rows."""
        fits = all(number in _OF_ONE_BYTE for row in self._rows for number in row)
        number_bytes = 1 if fits else 4
        packed = b"".join([_ROWS[number_bytes].pack(*row) for row in self._rows])
        return DuplicateTable([name for _, name in self._numbers], packed, number_bytes)

    def _number(self, column: str, name: str) -> int:
        return self._numbers.setdefault((column, name), len(self._numbers))


def _number(value: int | None) -> int:
    return _NONE if value is None else value


def _drop_unknown(number: int) -> int | None:
    return None if number == _NONE else number
