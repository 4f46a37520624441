"""The dataset `duplicates` as tables of many conversations, without an object for each row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from msgspec import Struct
from numpy.typing import NDArray

from goodgain.pipeline.results.arrow_columns import choose_texts, whole_numbers
from goodgain.pipeline.results.datasets import DUPLICATES
from goodgain.pipeline.results.parquet_rows import ROWS_AT_ONCE, arrow_schema
from goodgain.transforms.core.scoring.duplicate_table import COLUMNS, STEPS, DuplicateTable

_Numbers = NDArray[np.int64]
_NULLABLE = frozenset(column.name for column in DUPLICATES.columns if column.nullable)


class _Whose(Struct, frozen=True, array_like=True):
    """Of an encoded `ConversationRow`, only whose it is."""

    columns: msgspec.Raw
    values: msgspec.Raw
    conversation_id: str
    turn: int | None


class FoundDuplicates(Struct, frozen=True, array_like=True):
    """Of an encoded `ConversationScore`, only what its rows of `duplicates` are made of."""

    conversation: _Whose
    numbers: list[int]
    columns: msgspec.Raw
    by_i: msgspec.Raw
    idle: msgspec.Raw
    budgets: msgspec.Raw
    ratios: msgspec.Raw
    counts: msgspec.Raw
    calls: msgspec.Raw
    duplicate_table: DuplicateTable | None


def duplicate_tables(scores: Iterable[FoundDuplicates]) -> Iterator[pa.Table]:
    """The rows of some conversations in order, in tables of about `ROWS_AT_ONCE` rows."""
    found: list[tuple[FoundDuplicates, DuplicateTable]] = []
    rows = 0
    for score in scores:
        table = score.duplicate_table
        if table is None or not table.packed:
            continue
        found.append((score, table))
        rows += table.row_count
        if rows >= ROWS_AT_ONCE:
            yield _table(found)
            found, rows = [], 0
    if found:
        yield _table(found)


def _table(found: Sequence[tuple[FoundDuplicates, DuplicateTable]]) -> pa.Table:
    packed = [np.frombuffer(table.packed, f"<i{table.number_bytes}") for _, table in found]
    numbers = np.concatenate(packed, dtype=np.int64).reshape(-1, len(COLUMNS))
    whose = np.repeat(np.arange(len(found)), [table.row_count for _, table in found])
    raw: dict[str, _Numbers] = dict(zip(COLUMNS, numbers.T, strict=True))
    iterations = _Lists([score.numbers for score, _ in found])
    names = _Lists([table.names for _, table in found])
    texts: Mapping[str, tuple[Sequence[str], _Numbers]] = {
        "conversation_id": ([score.conversation.conversation_id for score, _ in found], whose),
        "entity_type": (names.items, names.places(whose, raw["entity_type"])),
        "key": (names.items, names.places(whose, raw["key"])),
        "step": (STEPS, raw["step"]),
    }
    all_iterations = np.array(iterations.items, np.int64)
    raw["turn"] = np.array([score.conversation.turn for score, _ in found], np.int64)[whose]
    raw["iteration"] = all_iterations[iterations.places(whose, raw["i"] - 1)]
    raw["first_iteration"] = all_iterations[iterations.places(whose, raw["first_i"] - 1)]

    def array(name: str) -> pa.Array:
        valid = raw[name] >= 0 if name in _NULLABLE else None
        if name in texts:
            return choose_texts(*texts[name], valid)
        return whole_numbers(raw[name], valid)

    names_of_columns = [column.name for column in DUPLICATES.columns]
    return pa.Table.from_arrays(
        [array(name) for name in names_of_columns], schema=arrow_schema(DUPLICATES)
    )


class _Lists:
    """The lists of several conversations, one after another."""

    def __init__(self, lists: Sequence[Sequence[Any]]) -> None:
        self.items: list[Any] = list(chain.from_iterable(lists))
        self._starts = np.cumsum([0, *map(len, lists)])

    def places(self, whose: _Numbers, indexes: _Numbers) -> _Numbers:
        """The places in `items` of indexes in the lists of these conversations."""
        places: _Numbers = self._starts[whose] + indexes
        return places
