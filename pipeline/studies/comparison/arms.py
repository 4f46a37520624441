"""One arm: the values of its conversations as columns, read from the output of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.studies.comparison.idle_conversations import Unsearched, number_or_nan
from goodgain.pipeline.studies.comparison.measures import Measure, Measures
from goodgain.transforms.core.comparison.samples import Array
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metrics.prefix import (
    extend_beyond,
)
from goodgain.transforms.core.metrics.repeats import parse_repeats
from goodgain.transforms.core.scoring.score_rows import prefix_of

WITHOUT_SEARCH = "did not search"
WITH_REJECTED = "had rejected records"
_Row = Mapping[str, Any]
_SHOWN = 10


class LeftOut(Struct, frozen=True):
    """A conversation that is left out of the means (SPEC 6)."""

    reason: str
    attributes: Mapping[str, str]


class Part(NamedTuple):
    """The conversations of an arm that share some values: indexes, ascending, and ids left out."""

    indexes: list[int]
    left_out: list[str]


class Arm(Struct, frozen=True, dict=True):
    """The conversations that count in the means, in ascending order of their ids (SPEC 6).

    Attributes:
      label: the name of the arm in tables.
      reached: N of each conversation.
      at_end: for each metric at N, one value per conversation; NaN for null.
      by_i: for each metric by i, one row per conversation and one column per i up to max_i,
        extended with empty iterations beyond N (SPEC 6, `all`).
      left_out: the conversations left out of the means, by id.
      pool_found: for each id, how many good documents the topic's pool has, and the numbers of
        those found; empty without a pool (SPEC 9).
      without_search: the conversations whose last turn did not search, as an arm with their values
        in the population `everyone`; None in that arm itself.
    """

    label: str
    ids: tuple[str, ...]
    attributes: tuple[Mapping[str, str], ...]
    reached: npt.NDArray[np.int64]
    at_end: Mapping[str, Array]
    by_i: Mapping[str, Array]
    left_out: Mapping[str, LeftOut]
    without_search: Arm | None = None
    pool_found: Mapping[str, tuple[int, str]] = {}

    @property
    def share_without_search(self) -> float:
        """Share of the conversations without rejected records whose last turn did not search."""
        idle = 0 if self.without_search is None else len(self.without_search.ids)
        return idle / (len(self.ids) + idle) if idle else 0.0

    def everyone(self) -> Arm:
        """The arm including the conversations that did not search (SPEC 6, `everyone`).

        See `Unsearched` for their values.
        """
        other = self.without_search
        if other is None or not other.ids:
            return self
        order = sorted(
            range(len(self.ids) + len(other.ids)), key=(*self.ids, *other.ids).__getitem__
        )
        ids, attributes = (*self.ids, *other.ids), (*self.attributes, *other.attributes)
        added = frozenset(other.ids)

        def merge(one: Array, more: Array) -> Array:
            both: Array = np.concatenate((one, more))[order]
            return both

        return replace(
            self,
            ids=tuple(ids[at] for at in order),
            attributes=tuple(attributes[at] for at in order),
            reached=np.concatenate((self.reached, other.reached))[order],
            at_end={name: merge(one, other.at_end[name]) for name, one in self.at_end.items()},
            by_i={name: merge(one, other.by_i[name]) for name, one in self.by_i.items()},
            left_out={
                identity: left for identity, left in self.left_out.items() if identity not in added
            },
            without_search=None,
        )

    def values(self, measure: Measure) -> tuple[Array, npt.NDArray[np.bool_]]:
        """The value of each conversation (NaN if undefined), and a mask of the population.

        Of a mean over repeats, 1 if the conversation passes its condition and 0 if not.
        """
        if (repeats := parse_repeats(measure.metric)) is not None:
            condition = repeats.condition
            of_metric = self.at_end[condition.metric]
            passes = condition.compare(of_metric, condition.bound).astype(np.float64)
            passes[np.isnan(of_metric)] = np.nan
            return passes, np.ones(len(self.ids), dtype=np.bool_)
        if measure.i is None:
            return self.at_end[measure.metric], np.ones(len(self.ids), dtype=np.bool_)
        values: Array = self.by_i[measure.metric][:, measure.i - 1]
        if measure.population == "reached":
            return values, self.reached >= measure.i
        return values, np.ones(len(self.ids), dtype=np.bool_)

    def where(self, attributes: Mapping[str, str], label: str | None = None) -> Arm:
        """The part of the arm whose conversations have these attributes; "" = missing or blank."""
        if not attributes:
            return self
        part = self.parts(tuple(attributes)).get(tuple(attributes.values()), Part([], []))
        indexes = np.array(part.indexes, dtype=np.intp)
        return Arm(
            label=self.label if label is None else label,
            ids=tuple(self.ids[index] for index in part.indexes),
            attributes=tuple(self.attributes[index] for index in part.indexes),
            reached=self.reached[indexes],
            at_end={name: values[indexes] for name, values in self.at_end.items()},
            by_i={name: values[indexes] for name, values in self.by_i.items()},
            left_out={identity: self.left_out[identity] for identity in part.left_out},
            without_search=self.without_search and self.without_search.where(attributes),
            pool_found=self.pool_found,
        )

    def parts(self, names: tuple[str, ...]) -> Mapping[tuple[str, ...], Part]:
        """The part of the arm for each combination of values of some attributes ("" = missing).

        Computed once for all slices by these attributes.
        """
        parts = self._parts.get(names)
        if parts is None:
            parts = self._parts[names] = {}
            for index, attributes in enumerate(self.attributes):
                _part(parts, attributes, names).indexes.append(index)
            for identity, left in self.left_out.items():
                _part(parts, left.attributes, names).left_out.append(identity)
        return parts

    @cached_property
    def _parts(self) -> dict[tuple[str, ...], dict[tuple[str, ...], Part]]:
        return {}


def _part(
    parts: dict[tuple[str, ...], Part], attributes: Mapping[str, str], names: tuple[str, ...]
) -> Part:
    return parts.setdefault(tuple(attributes.get(name, "") for name in names), Part([], []))


def arm_of(
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
    conversations.sort(key=lambda one: one.identity)
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


def check_attribute(attribute: str, option: str, *arms: Arm) -> None:
    """Make sure that some conversation has the attribute that an option names.

    Raises:
      UsageError: none has it; the message names those that they have.
    """
    for problem in describe_missing([attribute], option, *arms):
        raise UsageError(problem)


def describe_missing(attributes: list[str], option: str, *arms: Arm) -> Iterator[str]:
    """A sentence for each attribute that no conversation has."""
    known = sorted(
        {name for arm in arms for own in arm.attributes for name, value in own.items() if value}
    )
    for attribute in attributes:
        if attribute in known:
            continue
        near = get_close_matches(attribute, known, n=1)
        if near:
            hint = f"did you mean {near[0]}?"
        elif known:
            hint = f"they have {', '.join(known[:_SHOWN])}{', ...' if len(known) > _SHOWN else ''}."
        else:
            hint = "they have none."
        yield f"No conversation in the means has the attribute {attribute} of {option}; {hint}"
