"""The declaration of a metric, from which columns, schemas, tables and reports are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Literal

from msgspec import Struct

SHARE = "share"
ZERO_TO_ONE = (SHARE, "0 or 1")  # units
Direction = Literal["higher", "lower", "neither"]


class Metric(Struct, frozen=True):
    """The declaration of one metric; SPEC 5, 6 and 8 hold the definitions.

    Attributes:
      name: its spelling in configurations, columns and reports, like `CG_at_i` or `ndcg@10`.
      unit: its unit, like "gain" or "results"; `share` for values from 0 to 1.
      decimal: whether a share is shown as a decimal, as is usual for ranking metrics, and not in
        percent.
      meaning: one sentence for a reader of the report.
      direction: whether a higher or a lower value is better, or neither.
      undefined: when the value is null; "" when it never is.
      formula: the definition, in plain text.
      whole: whether values are whole numbers.
      needs_labels: whether it says nothing where no result has a label (SPEC 10).
      bounded: whether unlabelled results have a worst and a best case for it (SPEC 8).
      own_ideal: whether it is measured against the best that all judged documents allow; without
        judgments from outside these are the run's own finds.
      caution: one sentence on what makes a better value misleading; "" when nothing does.
      binary: whether each conversation's value is 0 or 1.
      function: computes it from the `IterationCounts` of a turn that searched; a metric of
        iteration i from those of iterations 1..i. None if it is a field of the row.
      words: the name in words, like "Gain per result"; "" where the name needs none.
    """

    name: str
    unit: str
    meaning: str
    direction: Direction
    undefined: str
    formula: str
    whole: bool = False
    bounded: bool = False
    needs_labels: bool = False
    own_ideal: bool = False
    caution: str = ""
    binary: bool = False
    function: Callable[[Sequence[Any]], float | None] | None = None
    words: str = ""
    decimal: bool = False

    @property
    def symbol(self) -> str:
        """The name as formulas write it: `CG_at_i` is CG@i."""
        if "." in self.name:  # of a cost: its own name follows the dot
            return self.name
        if self.name.endswith("_at_i"):
            return self.name.removesuffix("_at_i") + "@i"
        if self.name.endswith("_i"):
            return self.name.removesuffix("_i") + " of i"
        return self.name

    @property
    def label(self) -> str:
        """The name for readers: "Gain per result (RAG)"; the words alone if they hold the name."""
        if not self.words:
            return self.symbol
        if set(self.name.split("_")) <= set(self.words.lower().split()):
            return self.words
        return f"{self.words} ({self.symbol})"

    @property
    def in_percent(self) -> bool:
        """Whether values are shown as percentages."""
        return self.unit == SHARE and not self.decimal

    def within(self, end: float) -> float:
        """The end of an interval, clipped to the metric's range: at least 0, a share at most 1."""
        return min(max(end, 0.0), 1.0 if self.unit in ZERO_TO_ONE else inf)

    @property
    def explained(self) -> str:
        """The meaning, followed by the caution if there is one."""
        return f"{self.meaning} {self.caution}".rstrip()
