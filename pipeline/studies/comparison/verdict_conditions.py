"""What decides whether two arms can be compared in a slice: labels, searches, counterparts."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.matching import BY_ID, Grouped, Matched
from goodgain.pipeline.studies.comparison.sources import Arms
from goodgain.transforms.core.comparison.samples import Array
from goodgain.transforms.core.metric import Metric

# Arms are not comparable when their shares of missing values differ by more than this.
MOST_DIFFERENT = 0.05
ROUNDING = 1e-12  # 1 - 0.95 is a little more than 0.05
_CHANCE = 3.290527  # standard errors, which chance exceeds in 0.1 % of cases
_Rows = npt.NDArray[np.intp]


class VerdictConditions(Struct, frozen=True):
    """What decides whether there can be verdicts in one slice.

    Attributes:
      labelled: of base and candidate, share of the compared results with a label; None without
        results.
      efficiency: of both, mean SRE of the compared conversations; None without any.
      idle: of both, share of the conversations whose last turn did not search.
      missing: which conversations one arm lacks, as a clause; None if it lacks few, or if values
        are not paired by conversation. A conversation that never searches leaves no record.
      labels_by_chance: whether the difference of the labelled shares is one that chance explains.
    """

    labelled: tuple[float | None, float | None]
    efficiency: tuple[float | None, float | None]
    idle: tuple[float, float]
    shared_judgments: bool
    max_i: int
    missing: str | None = None
    shared_aspects: bool = False
    labels_by_chance: bool = False

    def has_own_ideal(self, metric: Metric) -> bool:
        """Whether each arm is measured by its own finds."""
        return metric.has_own_ideal(self.shared_judgments, self.shared_aspects)

    @property
    def without_labels(self) -> tuple[str, ...]:
        """The arms that have results but no label."""
        arms = zip(("base", "candidate"), self.labelled, strict=True)
        return tuple(arm for arm, labelled in arms if labelled == 0)

    @property
    def unequal_search(self) -> bool:
        """Whether the arms are compared in the population `everyone` throughout."""
        return differ(*self.idle)

    @property
    def search_could_decide(self) -> bool:
        """Whether verdicts have to hold in the population `everyone`, too."""
        base, candidate = self.idle
        return base != candidate and not self.unequal_search

    @property
    def unequal_labels(self) -> bool:
        """Whether metrics that need labels cannot be compared."""
        base, candidate = self.labelled
        if base is None or candidate is None or self.labels_by_chance:
            return False
        return differ(base, candidate)


def tolerate_chance(conditions: VerdictConditions, matched: Matched) -> VerdictConditions:
    """The conditions, without a difference of labelled shares between samples that may be chance.

    Of ten conversations with three results each, a single one without a label is 3.3 points. The
    standard error of a share over conversations is that of a mean over clusters (SPEC 7).
    """
    if matched.paired or not conditions.unequal_labels or conditions.without_labels:
        return conditions
    base, candidate = (
        _squared_error(arm.at_end["unlabelled"], arm.at_end["R"])
        for arm in (matched.base.arm, matched.candidate.arm)
    )
    before, after = conditions.labelled
    by_chance = abs((after or 0.0) - (before or 0.0)) <= _CHANCE * sqrt(base + candidate)
    return replace(conditions, labels_by_chance=by_chance)


def _squared_error(unlabelled: Array, results: Array) -> float:
    """The squared standard error of the share of results without a label; 0 of one conversation."""
    n = len(results)
    residuals = unlabelled - results * (unlabelled.sum() / results.sum())
    return n / (n - 1) * float((residuals**2).sum()) / float(results.sum()) ** 2 if n > 1 else 0.0


def verdict_conditions(matched: Matched, arms: Arms) -> VerdictConditions:
    """The conditions of verdicts about two matched arms, or about the same slice of both."""
    base, candidate = matched.base, matched.candidate
    of_base = _compared_rows(base, matched.base_indexes, matched.paired)
    of_candidate = _compared_rows(candidate, matched.candidate_indexes, matched.paired)
    return VerdictConditions(
        labelled=(_labelled_share(base.arm, of_base), _labelled_share(candidate.arm, of_candidate)),
        efficiency=(_efficiency(base.arm, of_base), _efficiency(candidate.arm, of_candidate)),
        idle=(base.arm.share_without_search, candidate.arm.share_without_search),
        shared_judgments=arms.shared_judgments,
        shared_aspects=arms.shared_aspects,
        max_i=arms.max_i,
        missing=describe_without_counterpart(matched) if matched.pair_by == BY_ID else None,
    )


def describe_without_counterpart(matched: Matched) -> str | None:
    """A clause about arms that lack several of the other's keys, and more than 5 % of them.

    None if neither does, or if there are no pairs. A conversation left out of the means, since its
    records were rejected, is not lacking.
    """
    if not matched.keys:
        return None
    base, candidate = matched.base, matched.candidate
    clauses = []
    for name, mine, other_name, other in (
        ("base", base, "candidate", candidate),
        ("candidate", candidate, "base", base),
    ):
        own_keys = len(mine.keys)
        tolerated = max(1.0, own_keys * MOST_DIFFERENT)
        if own_keys - len(matched.keys) <= tolerated:
            continue
        lacking = len({*mine.keys} - {*matched.keys} - {*other.arm.left_out})
        if lacking > tolerated:
            keys = _keys_of(mine, matched.pair_by)
            clauses.append(
                f"{lacking:,} of the {name}'s {own_keys:,} {keys} are not in the {other_name}"
            )
    return " and ".join(clauses) or None


def _keys_of(mine: Grouped, pair_by: str) -> str:
    """What the keys of an arm count, in words."""
    idle = mine.arm.share_without_search > 0
    if pair_by == BY_ID:
        return "conversations that searched" if idle else "conversations"
    return f"values of {pair_by} with a search" if idle else f"values of {pair_by}"


def _compared_rows(grouped: Grouped, places: npt.NDArray[np.intp], paired: bool) -> _Rows:
    """The indexes in the arm of the conversations that are compared."""
    if paired:
        return grouped.rows[np.isin(grouped.group_of, places)]
    return np.arange(len(grouped.arm.ids))


def _labelled_share(arm: Arm, rows: _Rows) -> float | None:
    results = float(arm.at_end["R"][rows].sum())
    return 1 - float(arm.at_end["unlabelled"][rows].sum()) / results if results else None


def _efficiency(arm: Arm, rows: _Rows) -> float | None:
    return float(arm.at_end["SRE"][rows].mean()) if len(rows) else None


def differ(one: float, other: float) -> bool:
    """Whether shares of two arms differ too much to be comparable."""
    return abs(one - other) > MOST_DIFFERENT + ROUNDING
