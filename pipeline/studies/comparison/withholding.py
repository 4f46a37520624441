"""When a verdict is withheld, since the two arms do not measure the same thing (SPEC 10)."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from goodgain.pipeline.document.numbers import share_text
from goodgain.pipeline.results.unlabelled_arms import NO_LABEL
from goodgain.pipeline.studies.comparison.matching import Sample
from goodgain.pipeline.studies.comparison.measures import Measure
from goodgain.pipeline.studies.comparison.verdict_conditions import (
    MOST_DIFFERENT,
    ROUNDING,
    VerdictConditions,
    differ,
)
from goodgain.pipeline.studies.comparison.worst_case import WorstCase
from goodgain.transforms.core.comparison.samples import difference_of_means
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.wording import format_count


def measure_to_compare(measure: Measure, conditions: VerdictConditions) -> Measure:
    """The measure in the population in which two arms are compared.

    It is `everyone` if the arms differ in how many conversations did not search and the measure has
    a value for those (SPEC 10), unless only conversations that reached an iteration count.
    """
    return extend_to_everyone(measure) or measure if conditions.unequal_search else measure


def extend_to_everyone(measure: Measure) -> Measure | None:
    """The measure in the population `everyone`; None if it has no value there."""
    if measure.population == "reached" or not metric_by_name(measure.metric).in_everyone:
        return None
    return replace(measure, population="everyone")


def reason_to_withhold(
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
        labels = Remedy("qrels") + " or " + Remedy("pool")
        return (
            "own ideal: each run is measured by its own finds; use the same judgments ("
            + (Remedy("aspect_qrels") if metric.of_aspects else labels)
            + ") for both"
        )
    if metric.needs_labels and (clause := _reason_of_labels(metric, values, conditions)):
        return clause
    if conditions.unequal_search and measure.population != "everyone":
        return describe_different_search(conditions)
    missing = _reason_of_nulls(values)
    if missing is None:
        return None
    if not is_outcome(measure.metric):
        return missing
    if worst is not None and _agrees(values, worst):
        return None
    return f"{describe_reached(values)}, and the others have no value"


def _reason_of_labels(metric: Metric, values: Sample, conditions: VerdictConditions) -> str | None:
    """The reason if labels lack in both arms, or more of them in one."""
    without = conditions.without_labels
    if len(without) == 2:
        return NO_LABEL
    if conditions.unequal_labels or without:
        return describe_labels(conditions)
    return reason_of_missing_labels(metric, values, conditions)


def describe_labels(conditions: VerdictConditions) -> str:
    """The shares of results that have a label, as a clause."""
    base, candidate = map(share_text, conditions.labelled)
    return f"{base} of the results of the base have a label, {candidate} of the candidate's"


def reason_of_missing_labels(
    metric: Metric, values: Sample, conditions: VerdictConditions
) -> str | None:
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
    if surplus <= ROUNDING or abs(difference) * efficiency > 2 * surplus * abs(means[worse]):
        return None
    base, candidate = (share_text(None if share is None else 1 - share) for share in labelled)
    return (
        f"{base} of the results of the base have no label, {candidate} of the candidate's: were "
        "these results good, the difference would vanish"
    )


def describe_different_search(conditions: VerdictConditions) -> str:
    """The shares of conversations that did not search, as a clause."""
    base, candidate = map(share_text, conditions.idle)
    return f"{base} of the conversations of the base did not search, {candidate} of the candidate's"


def is_outcome(metric: str) -> bool:
    """Whether a null means that something was never reached."""
    return metric_by_name(metric).waits


def describe_reached(values: Sample) -> str:
    """In how many conversations of each arm an outcome was reached, in words."""
    base, candidate = _defined_shares(values)
    return f"reached in {share_text(base)} of the base, {share_text(candidate)} of the candidate"


def _reason_of_nulls(values: Sample) -> str | None:
    """The reason if too many conversations have null in one arm only."""
    if not values.paired:
        base, candidate = _defined_shares(values)
        if base is None or candidate is None or not differ(base, candidate):
            return None
        return (
            f"undefined for {share_text(1 - base)} of the conversations of the base, "
            f"{share_text(1 - candidate)} of the candidate's"
        )
    alone = values.undefined_in_base + values.undefined_in_candidate
    pairs = len(values.with_nulls[0])
    if not pairs or alone / pairs <= MOST_DIFFERENT + ROUNDING:
        return None
    of_pairs = format_count(pairs, "pair")
    return f"undefined in one arm alone for {alone:,} of {of_pairs} ({share_text(alone / pairs)})"


def _defined_shares(values: Sample) -> list[float | None]:
    """Share of the conversations of each arm that have a value."""
    return [
        int(np.count_nonzero(~np.isnan(arm))) / len(arm) if len(arm) else None
        for arm in values.with_nulls
    ]


def _agrees(values: Sample, worst: WorstCase) -> bool:
    """Whether the worst case points the same way as the defined values."""
    if not len(values.base) or not len(values.candidate):
        return False
    difference = float(values.candidate.mean()) - float(values.base.mean())
    difference = difference_of_means(difference, values.base, values.candidate)
    return difference * worst.difference > 0
