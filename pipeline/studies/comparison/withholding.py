"""When a verdict is withheld, since the two arms do not measure the same thing (SPEC 10)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.matching import BY_ID, Grouped, Matched, Sample
from goodgain.pipeline.studies.comparison.measures import Measure
from goodgain.pipeline.studies.comparison.sources import Arms
from goodgain.transforms.core.comparison.samples import difference_of_means
from goodgain.transforms.core.metric import ZERO_TO_ONE, Metric
from goodgain.transforms.core.metrics.by_name import metric_by_name

# Arms are not comparable when their shares of missing values differ by more than this.
MOST_DIFFERENT = 0.05
_ROUNDING = 1e-12  # 1 - 0.95 is a little more than 0.05
# A null of these metrics means "never reached", which is an outcome and not a gap.
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
    """

    labelled: tuple[float | None, float | None]
    efficiency: tuple[float | None, float | None]
    idle: tuple[float, float]
    shared_judgments: bool
    max_i: int
    missing: str | None = None
    shared_aspects: bool = False

    def has_own_ideal(self, metric: Metric) -> bool:
        """Whether each arm is measured by its own finds."""
        shared = self.shared_aspects if metric.of_aspects else self.shared_judgments
        return metric.own_ideal and not shared

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
        return base is not None and candidate is not None and differ(base, candidate)


def verdict_conditions(matched: Matched, arms: Arms) -> VerdictConditions:
    """The conditions of verdicts about two matched arms, or about the same slice of both."""
    base, candidate = matched.base, matched.candidate
    of_base = _compared_rows(base, matched.base_indexes, matched.paired)
    of_candidate = _compared_rows(candidate, matched.candidate_indexes, matched.paired)
    return VerdictConditions(
        labelled=(_labelled(base.arm, of_base), _labelled(candidate.arm, of_candidate)),
        efficiency=(_efficiency(base.arm, of_base), _efficiency(candidate.arm, of_candidate)),
        idle=(base.arm.share_without_search, candidate.arm.share_without_search),
        shared_judgments=arms.shared_judgments,
        shared_aspects=arms.shared_aspects,
        max_i=arms.max_i,
        missing=without_counterpart(matched) if matched.pair_by == BY_ID else None,
    )


def compared_measure(measure: Measure, conditions: VerdictConditions) -> Measure:
    """The measure in the population in which two arms are compared.

    It is `everyone` if the arms differ in how many conversations did not search and the measure has
    a value for those (SPEC 10), unless only conversations that reached an iteration count.
    """
    return over_everyone(measure) or measure if conditions.unequal_search else measure


def over_everyone(measure: Measure) -> Measure | None:
    """The measure in the population `everyone`; None if it has no value there."""
    if measure.population == "reached" or not metric_by_name(measure.metric).in_everyone:
        return None
    return replace(measure, population="everyone")


def without_counterpart(matched: Matched) -> str | None:
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


def _labelled(arm: Arm, rows: _Rows) -> float | None:
    results = float(arm.at_end["R"][rows].sum())
    return 1 - float(arm.at_end["unlabelled"][rows].sum()) / results if results else None


def _efficiency(arm: Arm, rows: _Rows) -> float | None:
    return float(arm.at_end["SRE"][rows].mean()) if len(rows) else None


def withheld(
    measure: Measure,
    values: Sample,
    worst: WorstCase | None,
    conditions: VerdictConditions,
) -> str | None:
    """Why there can be no verdict, as a clause; None if there can be one.

    Args:
      worst: the worst case of the same values; None if no value is null, or the metric has no worst
        value.
    """
    metric = metric_by_name(measure.metric)
    if conditions.missing is not None:
        return conditions.missing
    if conditions.has_own_ideal(metric):
        options = "--aspect-qrels" if metric.of_aspects else "--qrels or --pool"
        return (
            f"own ideal: each run is measured by its own finds; use the same judgments ({options}) "
            "for both"
        )
    if conditions.unequal_labels and metric.needs_labels:
        base, candidate = map(_percent, conditions.labelled)
        return f"{base} of the results of the base have a label, {candidate} of the candidate's"
    if metric.needs_labels and (clause := missing_labels(metric, values, conditions)):
        return clause
    if conditions.unequal_search and measure.population != "everyone":
        return different_search(conditions)
    missing = _missing(values)
    if missing is None:
        return None
    if not is_outcome(measure.metric):
        return missing
    if worst is not None and _agrees(values, worst):
        return None
    return f"{reached(values)}, and the others have no value"


def missing_labels(metric: Metric, values: Sample, conditions: VerdictConditions) -> str | None:
    """The reason if labels that only the worse arm lacks could make the whole difference (SPEC 10).

    Each of its surplus of unlabelled results might be good, and better than most. None if not even
    these could.
    """
    if metric.direction == "neither" or not len(values.base) or not len(values.candidate):
        return None
    means = float(values.base.mean()), float(values.candidate.mean())
    difference = difference_of_means(means[1] - means[0], values.base, values.candidate)
    if difference == 0:
        return None
    worse = 1 if (difference < 0) == (metric.direction == "higher") else 0
    labelled, efficiency = conditions.labelled, conditions.efficiency[worse]
    mine, others = labelled[worse], labelled[1 - worse]
    if mine is None or others is None or efficiency is None:
        return None
    surplus = others - mine
    if surplus <= _ROUNDING or abs(difference) * efficiency > 2 * surplus * abs(means[worse]):
        return None
    base, candidate = (_percent(None if share is None else 1 - share) for share in labelled)
    return (
        f"{base} of the results of the base have no label, {candidate} of the candidate's: were "
        "these results good, the difference would vanish"
    )


def different_search(conditions: VerdictConditions) -> str:
    """The shares of conversations that did not search, as a clause."""
    base, candidate = map(_percent, conditions.idle)
    return f"{base} of the conversations of the base did not search, {candidate} of the candidate's"


def is_outcome(metric: str) -> bool:
    """Whether a null means that something was never reached."""
    return metric_by_name(metric).waits


def reached(values: Sample) -> str:
    """In how many conversations of each arm an outcome was reached, in words."""
    base, candidate = _defined(values)
    return f"reached in {_percent(base)} of the base, {_percent(candidate)} of the candidate"


def _missing(values: Sample) -> str | None:
    """The reason if too many conversations have null in one arm only."""
    if not values.paired:
        base, candidate = _defined(values)
        if base is None or candidate is None or not differ(base, candidate):
            return None
        return (
            f"null for {_percent(1 - base)} of the conversations of the base, "
            f"{_percent(1 - candidate)} of the candidate's"
        )
    alone = values.undefined_in_base + values.undefined_in_candidate
    pairs = len(values.with_nulls[0])
    if not pairs or alone / pairs <= MOST_DIFFERENT + _ROUNDING:
        return None
    return f"null in one arm alone for {alone:,} of {pairs:,} pairs ({_percent(alone / pairs)})"


def _defined(values: Sample) -> list[float | None]:
    """Share of the conversations of each arm that have a value."""
    return [
        int(np.count_nonzero(~np.isnan(arm))) / len(arm) if len(arm) else None
        for arm in values.with_nulls
    ]


def differ(one: float, other: float) -> bool:
    """Whether shares of two arms differ too much to be comparable."""
    return abs(one - other) > MOST_DIFFERENT + _ROUNDING


def _agrees(values: Sample, worst: WorstCase) -> bool:
    """Whether the worst case points the same way as the defined values."""
    if not len(values.base) or not len(values.candidate):
        return False
    difference = float(values.candidate.mean()) - float(values.base.mean())
    difference = difference_of_means(difference, values.base, values.candidate)
    return difference * worst.difference > 0


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.3g} %"


class WorstCase(Struct, frozen=True):
    """The means if each null were the metric's worst value (SPEC 10)."""

    base_mean: float
    candidate_mean: float

    @property
    def difference(self) -> float:
        """The difference of the means; 0 if they differ only by rounding."""
        means = np.array([self.base_mean, self.candidate_mean])
        return difference_of_means(self.candidate_mean - self.base_mean, means)


def worst_value(metric: str, max_i: int) -> float | None:
    """The worst value of a metric; None if it has none, or neither higher nor lower is better."""
    declared = metric_by_name(metric)
    if declared.direction == "higher":
        return 0.0
    if declared.direction == "lower" and declared.unit in ZERO_TO_ONE:
        return 1.0
    if declared.direction == "lower" and declared.unit == "iterations":
        return float(max_i + 1)
    return None


def worst_case(metric: str, values: Sample, max_i: int) -> WorstCase | None:
    """The means with nulls as the worst value; None if none is null, or there is no worst value."""
    worst = worst_value(metric, max_i)
    base, candidate = values.with_nulls
    nothing_is_null = len(base) == len(values.base) and len(candidate) == len(values.candidate)
    if worst is None or nothing_is_null or not len(base) or not len(candidate):
        return None
    return WorstCase(*(float(np.nan_to_num(arm, nan=worst).mean()) for arm in (base, candidate)))
