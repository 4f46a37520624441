"""One arm of a comparison: the values of its conversations as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.studies.comparison.measures import Measure
from goodgain.transforms.core.comparison.samples import Array
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metrics.repeats import parse_repeats
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.wording import list_first

WITHOUT_SEARCH = "did not search"
WITH_REJECTED = "had rejected records"
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
            at_end={
                name: merge(values, other.at_end[name]) for name, values in self.at_end.items()
            },
            by_i={name: merge(values, other.by_i[name]) for name, values in self.by_i.items()},
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


def check_attribute(attribute: str, option: Remedy, *arms: Arm) -> None:
    """Make sure that some conversation has the attribute that an option names.

    Raises:
      UsageError: none has it; the message names those that they have.
    """
    for problem in describe_missing([attribute], option, *arms):
        raise UsageError(problem)


def describe_missing(attributes: list[str], option: Remedy, *arms: Arm) -> Iterator[str]:
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
            hint = f"they have {list_first(known, _SHOWN)}."
        else:
            hint = "they have none."
        missing = f"No conversation in the means has the attribute {attribute} of "
        yield missing + option + f"; {hint}"
