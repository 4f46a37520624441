"""Rows of `duplicates` and counts of a folded turn (SPEC 4, 6)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate

from msgspec import Struct

from goodgain.transforms.core.dedup.duplicates import Duplicate
from goodgain.transforms.core.dedup.keys import key_name
from goodgain.transforms.core.dedup.rules import NO_TYPE, UNKNOWN_BYTES, UNKNOWN_TYPE, RuleTable
from goodgain.transforms.core.scoring.duplicate_table import DuplicateTable, TableBuilder
from goodgain.transforms.core.scoring.fold import FoldedTurn, iteration_numbers

UNTYPED = "untyped"


class ResultPlace(Struct, frozen=True):
    """The place of a result.

    Attributes:
      i, iteration: dense index and raw number of the iteration.
      call_position: from 0, the call's place within its iteration.
      rank: from 1, the result's place within its call.
    """

    i: int
    iteration: int
    call_position: int
    rank: int

    @property
    def text(self) -> str:
        """The place as i.call.rank, each from 1."""
        return f"{self.i}.{self.call_position + 1}.{self.rank}"


class TurnDetails:
    """A folded turn for outputs: places, types and keys of its results, duplicates, counts."""

    def __init__(self, turn: FoldedTurn, rules: RuleTable) -> None:
        """Precompute the lookups for all places."""
        self._turn = turn
        self._rules = rules
        self._starts = list(accumulate((len(call.results) for call in turn.calls), initial=0))
        self._call_places = _call_places(turn)
        self._ids = {number: name for name, number in rules.ids.items()}
        self._unknown: dict[int, str] = {}
        for call in turn.calls:
            for number, name in call.names.items():
                self._unknown[int.from_bytes(number)] = name

    def call_place(self, call: int) -> tuple[int, int, int]:
        """i, raw iteration and call_position of a call of the turn, counted from 0."""
        return self._call_places[call]

    def place(self, index: int) -> ResultPlace:
        """The place of a result, from its index in the turn."""
        call = bisect_right(self._starts, index) - 1
        return ResultPlace(*self._call_places[call], index - self._starts[call] + 1)

    def key(self, duplicate: Duplicate) -> str:
        """The name of the key that proposed a duplicate."""
        return key_name(
            duplicate.keys, lambda number: self._ids.get(number) or self._unknown[number]
        )

    def entity_type(self, index: int) -> str | None:
        """The type of a result by its name in the rules; None if it has none."""
        codes = self._turn.results[index].codes
        number = codes[0]
        if number == NO_TYPE:
            return None
        if number == UNKNOWN_TYPE:
            return self._unknown[int.from_bytes(codes[:UNKNOWN_BYTES])]
        return self._rules.types[number - 1].name

    def table(self) -> DuplicateTable:
        """The duplicates, in order."""
        turn, table = self._turn, TableBuilder()
        for index, duplicate in enumerate(turn.duplicates):
            if duplicate is None:
                continue
            here, first = self.place(index), self.place(duplicate.first)
            table.add(
                (here.i, here.call_position, here.rank),
                (first.i, first.call_position, first.rank),
                self.entity_type(index),
                turn.results[index].gain,
                turn.label_at(duplicate.first),
                self.key(duplicate),
                duplicate.verdict.step,
                duplicate.verdict.clause,
            )
        return table.table()

    def counts(self) -> dict[str, int]:
        """Results and duplicates by type and step, near misses by step, and registrations cut."""
        duplicates = self._turn.duplicates
        names = [self.entity_type(index) or UNTYPED for index in range(len(duplicates))]
        copies = [duplicate for duplicate in duplicates if duplicate is not None]
        of_copies = Counter(
            [
                name
                for name, duplicate in zip(names, duplicates, strict=True)
                if duplicate is not None
            ]
        )
        return duplicate_counts(
            [(name, results, of_copies[name]) for name, results in Counter(names).items()],
            Counter([copy.verdict.step.value for copy in copies]),
            {step.value: n for step, n in self._turn.deduplicator.near_misses.items()},
            self._turn.deduplicator.cut,
        )


def duplicate_counts(
    by_type: Iterable[tuple[str, int, int]],
    by_step: Mapping[str, int],
    near_misses: Mapping[str, int],
    cut: int,
) -> dict[str, int]:
    """Counts of a turn by dotted name; without zeros, except for `candidates_cut`.

    Args:
      by_type: name, number of results, and of duplicates among them.
      near_misses: number of rejected candidates by the step that rejected them.
    """
    counts: dict[str, int] = {}
    for name, results, duplicates in by_type:
        _add(counts, f"results_by_type.{name}", results)
        _add(counts, f"duplicates_by_type.{name}", duplicates)
    for step, duplicates in by_step.items():
        if duplicates:
            counts[f"duplicates_by_step.{step}"] = duplicates
    for step, pairs in near_misses.items():
        if pairs:
            counts[f"near_misses_by_step.{step}"] = pairs
    counts["candidates_cut"] = cut
    return counts


def _add(counts: dict[str, int], name: str, count: int) -> None:
    if count:
        counts[name] = counts.get(name, 0) + count


def _call_places(turn: FoldedTurn) -> list[tuple[int, int, int]]:
    places: list[tuple[int, int, int]] = []
    seen: Counter[int] = Counter()
    for i, call in zip(iteration_numbers(turn.calls), turn.calls, strict=True):
        places.append((i, call.iteration, seen[i]))
        seen[i] += 1
    return places
