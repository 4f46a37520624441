"""The input of the checks of SPEC 10."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.scoring.data_counts import (
    RESULTS,
    UNLABELLED,
)
from goodgain.transforms.core.warnings.names import SeenNames, UnknownName, unknown_names

READ = "records.read"


class SliceLabels(Struct, frozen=True):
    """The number of results of a slice, and of those without a label."""

    slice: Mapping[str, str]
    results: int
    unlabelled: int

    @property
    def share(self) -> float:
        """The share without label; 0 without results."""
        return self.unlabelled / self.results if self.results else 0.0

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value or '(none)'}" for name, value in self.slice.items())


class LabelSpan(Struct, frozen=True):
    """Agreement of votes on pool documents whose voters share an id of one name (SPEC 9).

    Attributes:
      documents: pool documents with votes of two conversations that carry it.
      apart: those of them whose votes span 2 or more.
    """

    documents: int
    apart: int


class Findings(Struct, frozen=True):
    """The input of the checks.

    Attributes:
      counts: by dotted name: those of `data_counts`, and of the results of the scored turns.
      good_gain_threshold: the smallest gain of a good result.
      rules: for duplicates.
      records: number of records read; None if unknown, as in a window of a stream.
      seen: the names that the first records use.
      slices: the labels by slice, without the slice of all conversations.
      external: whether labels come from outside the traces.
      clock: the time that timestamps in the future (AHEAD) were counted against, in ms.
      label_spans: by id name, for the pool that it was scored with.
    """

    counts: Mapping[str, int]
    good_gain_threshold: int
    rules: RuleTable
    records: int | None = None
    seen: SeenNames = SeenNames()
    slices: Sequence[SliceLabels] = ()
    external: bool = False
    clock: int | None = None
    label_spans: Mapping[str, LabelSpan] = MappingProxyType({})

    def count(self, name: str) -> int:
        """A count; 0 when nothing was counted."""
        return self.counts.get(name, 0)

    def accepted(self, option: str) -> str:
        """The words on how to accept a warning; "" for a window, since a stream goes on anyway."""
        return "" if self.records is None else f"; {option} accepts it"

    @property
    def labelled(self) -> int:
        """Results with a label."""
        return self.count(RESULTS) - self.count(UNLABELLED)

    @property
    def unknown_names(self) -> list[UnknownName]:
        """Names that Good Gain does not read."""
        return unknown_names(self.seen, self.rules.fields)
