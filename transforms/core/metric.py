"""The declaration of a metric, from which its columns, schemas, tables and reports are made."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

SHARE = "share"
ZERO_TO_ONE = (SHARE, "0 or 1")  # the units of values from 0 to 1
OUTCOME_UNIT = "outcome"
GREATEST_VALUE = 2.0**500  # squares of greater ones may overflow
Direction = Literal["higher", "lower", "neither"]
# Where few metrics are shown: on cards at the top of pages, in the table of a run (`everyone`: with
# the conversations that did not search), of a stream and of a comparison, and what its decision
# rests on; of each pair that a comparison shows; and of a run without any label.
Place = Literal[
    "card", "table", "everyone", "stream", "comparison", "decision", "predictor", "example",
    "unlabelled",
]  # fmt: skip


class DescribedMetric(Struct, frozen=True):
    """What readers of outputs need to know of a metric, as manifests keep it of users' own.

    Attributes:
      name: its spelling in configurations, columns and reports, like `CG_at_i` or `ndcg@10`.
      unit: its unit, like "gain" or "results"; `share` for values from 0 to 1.
      meaning: one sentence for a reader of the report.
      direction: whether a higher or a lower value is better, or neither.
      undefined: when the value is null; "" = never.
      formula: the definition, in plain text.
      whole: whether values are whole numbers.
      needs_labels: whether it is meaningless if no result has a label.
      caution: one sentence on how a better value may mislead; "" if it cannot.
      words: the name in words, like "Gain per result"; "" if readers know the name.
    """

    name: str
    unit: str
    meaning: str
    direction: Direction
    undefined: str
    formula: str
    whole: bool = False
    needs_labels: bool = False
    caution: str = ""
    words: str = ""


class Metric(DescribedMetric, frozen=True, kw_only=True):
    """The declaration of one metric; `goodgain metrics` lists those of the package.

    Attributes:
      name, unit, meaning, direction, undefined, formula, whole, needs_labels, caution, words: see
        `DescribedMetric`.
      signed: whether values may be below 0.
      decimal: whether a share is shown as a decimal, as is usual for ranking metrics, rather than
        in percent.
      bounded: whether it has a worst and a best case for unlabelled results.
      own_ideal: whether it is relative to the best ranking of all judged documents, which without
        external judgments are only those that the run itself found.
      binary: whether each conversation's value is 0 or 1; None = if those of a sample are.
      function: computes it from a prefix of the turn, a `Prefix`;
        None if it is a mean only, without a value per conversation.
      counted: whether a turn without search has a value, too, like 0 for a count, rather than null.
      idle: whether a conversation without search has a value, that of the empty prefix; None = if
        lower is not better, since 0 would then be the best value.
      so_far: the metric of iterations with the same function; None if there is none.
      by_i: whether it is a metric of iterations, with a value at each i rather than at N.
      mean_only: whether only its mean over conversations has a value, and no conversation.
      of_aspects: whether the judgments that it needs are those of aspects, not of documents.
      waits: whether a null is an outcome: what it counts the iterations for was never reached.
      headline: the places at which it is among the few that are shown.
      gives_way: how soon it leaves a table that would be too long; 0 = last.

    Example: see `metric`.
    """

    signed: bool = False
    bounded: bool = False
    own_ideal: bool = False
    binary: bool | None = False
    function: Callable[[Any], float | None] | None = None
    decimal: bool = False
    counted: bool = False
    idle: bool | None = None
    so_far: Metric | None = None
    by_i: bool = False
    mean_only: bool = False
    of_aspects: bool = False
    waits: bool = False
    headline: tuple[Place, ...] = ()
    gives_way: int = 0

    def with_so_far(self, **changes: str) -> Metric:
        """The metric with its form at i, `NAME_at_i`, which has the same function.

        Args:
          changes: other attributes of the form at i, like its meaning.
        """
        at_i = replace(
            self, name=f"{self.name}_at_i", words=f"{self.words} so far", caution="", by_i=True,
            headline=(), **changes,
        )  # fmt: skip
        return replace(self, so_far=at_i)

    def has_own_ideal(self, judged: bool, judged_for_aspects: bool) -> bool:
        """Whether it is measured by what a run itself found, for lack of judgments.

        Args:
          judged, judged_for_aspects: whether judgments of documents, or of their aspects, come from
            elsewhere, and are the same for all that is compared.
        """
        return self.own_ideal and not (judged_for_aspects if self.of_aspects else judged)

    @property
    def in_everyone(self) -> bool:
        """Whether a conversation without search has a value."""
        return self.direction != "lower" if self.idle is None else self.idle

    @property
    def symbol(self) -> str:
        """The name in formulas: CG@i for `CG_at_i`."""
        if "." in self.name:  # metric of a cost, whose name follows the dot
            return self.name
        if self.name.endswith("_at_i"):
            return self.name.removesuffix("_at_i") + "@i"
        if self.name.endswith("_i"):
            return self.name.removesuffix("_i") + " of i"
        return self.name

    @property
    def label(self) -> str:
        """The name for readers, like "Gain per result (RAG)"; or only the words if they suffice."""
        if not self.words:
            return self.symbol
        if set(self.name.split("_")) <= set(self.words.lower().split()):
            return self.words
        return f"{self.words} ({self.symbol})"

    @property
    def in_percent(self) -> bool:
        """Whether values are shown as percentages."""
        return self.unit == SHARE and not self.decimal

    def clip(self, end: float) -> float:
        """The end of an interval, clipped to the metric's range: a share is from 0 to 1."""
        if self.signed:
            return end
        return min(max(end, 0.0), 1.0 if self.unit in ZERO_TO_ONE else inf)

    @property
    def described(self) -> DescribedMetric:
        """What readers of outputs need to know of it."""
        return DescribedMetric(*(getattr(self, name) for name in DescribedMetric.__struct_fields__))

    @property
    def explained(self) -> str:
        """The meaning, followed by the caution, if there is one."""
        return f"{self.meaning} {self.caution}".rstrip()
