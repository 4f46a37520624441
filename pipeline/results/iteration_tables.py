"""The dataset `iterations` as tables of many conversations, without an object for each row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec
import pyarrow as pa
from msgspec import Struct

from goodgain.pipeline.results.datasets import Dataset
from goodgain.pipeline.results.parquet_rows import Values, arrow_tables
from goodgain.transforms.core.metrics import group


class _WhoseIterations(Struct, frozen=True, array_like=True):
    """Of an encoded `ConversationRow`, only whose it is."""

    columns: msgspec.Raw
    values: msgspec.Raw
    conversation_id: str
    turn: int | None
    attributes: dict[str, str]


class FoundIterations(Struct, frozen=True, array_like=True):
    """Of an encoded `ConversationScore`, only what its rows of `iterations` are made of."""

    conversation: _WhoseIterations
    numbers: list[int]
    columns: msgspec.Raw
    by_i: list[group.Values]


def iteration_tables(dataset: Dataset, scores: Iterable[FoundIterations]) -> Iterator[pa.Table]:
    """The rows of some conversations in order; the values are in the order of the dataset."""
    return arrow_tables(dataset, chain.from_iterable(map(_rows, scores)))


def _rows(score: FoundIterations) -> list[Values]:
    whose = score.conversation
    place = whose.conversation_id, whose.turn or 0, whose.attributes
    return [
        (*place, i, number, *values)
        for i, (number, values) in enumerate(zip(score.numbers, score.by_i, strict=False), 1)
    ]
