"""Values of many conversations by column, and their sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat

from goodgain.transforms.core.means.distribution import NOTHING, Adder, Distribution
from goodgain.transforms.core.means.ratios import RatioSums
from goodgain.transforms.core.means.values import ConversationValues
from goodgain.transforms.core.metrics.group import Terms

_Column = tuple[float | None, ...]


def columns_of(
    several: Sequence[ConversationValues], got_there: bool
) -> Iterator[tuple[int, _Column]]:
    """The columns of the cells' values, of the conversations that got there, or of the others.

    Each comes with a key that columns may share whose values are often equal.
    """
    if not several:
        return
    first = several[0]
    none = repeat((), len(first.at_n))
    at_n = zip(*[values.at_n for values in several], strict=True) if got_there else none
    yield from enumerate(at_n)
    for i, of_iteration in enumerate(first.by_i, start=1):
        rows = [
            values.by_i[i - 1] for values in several if (not values.n or i <= values.n) == got_there
        ]
        columns = zip(*rows, strict=True) if rows else repeat((), len(of_iteration))
        yield from enumerate(columns, start=len(first.at_n))
    for at, at_budget in enumerate(first.budgets):
        rows = [
            values.budgets[at].values
            for values in several
            if (not values.n or values.budgets[at].reached) == got_there
        ]
        columns = zip(*rows, strict=True) if rows else repeat((), len(at_budget.values))
        yield from ((-1, column) for column in columns)


def add_columns(
    distributions: list[Distribution], columns: Iterator[tuple[int, _Column]], adder: Adder
) -> list[Distribution]:
    """The distributions with the values of their columns; without columns as they were."""
    before = distributions or repeat(NOTHING)
    added = [
        adder.add(key, distribution, column) if column else distribution
        for distribution, (key, column) in zip(before, columns, strict=False)
    ]
    return added or distributions


def without_cluster(several: Sequence[ConversationValues]) -> list[ConversationValues]:
    """The conversations that are clusters of their own."""
    return [values for values in several if values.cluster == ""]


def add_terms(sums: list[RatioSums], several: Sequence[ConversationValues]) -> list[RatioSums]:
    """The sums for each ratio with the terms of conversations that have some."""
    if not several:
        return sums
    columns: list[tuple[Terms | None, ...]] = list(
        zip(*(values.ratios for values in several), strict=True)
    )
    before = sums or [RatioSums()] * len(columns)
    return [
        sums.add(terms for terms in column if terms is not None)
        for sums, column in zip(before, columns, strict=True)
    ]
