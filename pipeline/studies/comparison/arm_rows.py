"""Arms made of the rows of a finished run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from goodgain.pipeline.studies.comparison.arms import (
    WITH_REJECTED,
    WITHOUT_SEARCH,
    Arm,
    LeftOut,
)
from goodgain.pipeline.studies.comparison.idle_conversations import Unsearched, number_or_nan
from goodgain.pipeline.studies.comparison.measures import Measures
from goodgain.transforms.core.comparison.samples import Array
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metrics.prefix import extend_beyond
from goodgain.transforms.core.scoring.score_rows import prefix_of

_Row = Mapping[str, Any]


def read_arm(
    conversations: Iterable[_Row],
    iterations: Iterable[_Row],
    label: str,
    measures: Measures,
    unsearched: Unsearched,
) -> Arm:
    """An arm made of rows of `conversations` and `iterations` of a finished run.

    Raises:
      UsageError: the rows lack a metric, or iterations of a conversation are missing.
    """
    left_out: dict[str, LeftOut] = {}
    searching: list[_Conversation] = []
    idle: list[_Conversation] = []
    pool_found: dict[str, tuple[int, str]] = {}
    for row in conversations:
        identity, attributes = row["conversation_id"], row["attributes"]
        if row["rejected_records"]:  # which may be why there is no search
            left_out[identity] = LeftOut(WITH_REJECTED, attributes)
            continue
        if "pool_found" in row:
            pool_found[identity] = row["pool_good"], row["pool_found"]
        wanted = (*measures.columns, *(("pool_found",) if "pool_recall" in row else ()))
        if missing_columns := [name for name in wanted if name not in row]:
            raise UsageError(
                f"The conversations of {label} have no metric {missing_columns[0]}: run it again."
            )
        if row["N"]:
            values = [row[name] for name in measures.columns]
            searching.append(_Conversation(identity, attributes, row["N"], values))
        else:
            left_out[identity] = LeftOut(WITHOUT_SEARCH, attributes)
            values_at_n = unsearched.at_n(measures.columns, row)
            by_i = unsearched.by_i(measures.iteration_columns, row)
            idle.append(_Conversation(identity, attributes, 0, values_at_n, by_i))
    arm, without_search = _arm(searching, label, measures), _arm(idle, label, measures)
    at_each_i = np.array([values.at_each_i for values in idle])
    at_each_i = at_each_i.reshape(len(idle), len(measures.iteration_columns))
    idle_by_i = {
        name: np.repeat(at_each_i[:, [index]], measures.max_i, axis=1)
        for index, name in enumerate(measures.iteration_columns)
    }
    return replace(
        arm,
        by_i=_by_i(iterations, arm.ids, arm.reached, measures, label),
        left_out=left_out,
        pool_found=pool_found,
        without_search=replace(without_search, by_i=idle_by_i),
    )


class _Conversation(NamedTuple):
    identity: str
    attributes: Mapping[str, str]
    reached: int
    values: Sequence[float | None]
    at_each_i: Sequence[float] = ()  # without search, the value is the same at every i


def _arm(conversations: list[_Conversation], label: str, measures: Measures) -> Arm:
    """An arm of some conversations, from their rows only; sorts them by id."""
    conversations.sort(key=lambda conversation: conversation.identity)
    values = np.array([conversation.values for conversation in conversations], dtype=np.float64)
    at_end = values.reshape(len(conversations), len(measures.columns))
    return Arm(
        label=label,
        ids=tuple(conversation.identity for conversation in conversations),
        attributes=tuple(conversation.attributes for conversation in conversations),
        reached=np.array([conversation.reached for conversation in conversations], dtype=np.int64),
        at_end=dict(zip(measures.columns, at_end.T, strict=True)),
        by_i={},
        left_out={},
    )


def _by_i(
    iterations: Iterable[_Row],
    ids: tuple[str, ...],
    reached: npt.NDArray[np.int64],
    measures: Measures,
    label: str,
) -> dict[str, Array]:
    """For each metric by i, one row per conversation and one column per i (see `Arm.by_i`)."""
    index_of = {identity: index for index, identity in enumerate(ids)}
    columns = measures.iteration_columns
    if not columns:
        return {}
    values = np.full((len(columns), len(ids), measures.max_i), np.nan)
    known = np.zeros((len(ids), measures.max_i), dtype=np.bool_)
    functions = [measures.function_by_i(name) for name in columns]
    incomplete: dict[int, dict[int, _Row]] = {}  # rows by i, by index of the conversation
    for row in iterations:
        index = index_of.get(row["conversation_id"])
        if index is None:
            continue
        if row["i"] <= measures.max_i:
            values[:, index, row["i"] - 1] = [row[name] for name in columns]
            known[index, row["i"] - 1] = True
        rows = incomplete.setdefault(index, {})
        rows[row["i"]] = row
        if len(rows) == reached[index]:
            whole = prefix_of([rows[i] for i in sorted(rows)], measures.costs)
            for prefix in extend_beyond(whole, measures.max_i):
                values[:, index, prefix.i - 1] = [
                    number_or_nan(function(prefix) if function else None) for function in functions
                ]
            known[index, reached[index] :] = True
            del incomplete[index]
    gaps = np.flatnonzero(~known.all(axis=1))
    if len(gaps):
        raise UsageError(
            f"{label} lacks iterations of conversation {ids[gaps[0]]}: its datasets do not "
            "come from one run; run it again."
        )
    return dict(zip(columns, values, strict=True))
