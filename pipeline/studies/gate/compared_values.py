"""The values of a rule in baseline and run, and whether they can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.clusters import cluster_codes
from goodgain.pipeline.studies.comparison.matching import (
    Matched,
    Sample,
    match,
    match_conversations,
    sample,
)
from goodgain.pipeline.studies.comparison.measures import Measure
from goodgain.pipeline.studies.comparison.sources import Arms
from goodgain.pipeline.studies.comparison.verdict_conditions import (
    tolerate_chance,
    verdict_conditions,
)
from goodgain.pipeline.studies.comparison.withholding import (
    describe_different_search,
    describe_labels,
    extend_to_everyone,
    measure_to_compare,
    reason_of_missing_labels,
    reason_to_withhold,
)
from goodgain.pipeline.studies.comparison.worst_case import assume_worst_case
from goodgain.pipeline.studies.gate.rules import Rule
from goodgain.transforms.core.metrics.by_name import metric_by_name


class ComparedValues(Struct, frozen=True):
    """The values of a rule in both arms.

    Attributes:
      values: paired if the arms share keys, otherwise two samples.
      population: the conversations that they are of.
      switched: a remark if it is `everyone`, but the rule names none; else "".
      reason: why they are not comparable; None if they are.
      doubt: a remark about labels that one arm lacks more of than the other; else "".
      unknown: the arms in which no result has a label, if the metric needs labels.
      codes: the clusters of the values; None = they are independent.
    """

    values: Sample
    matched: Matched
    population: str
    switched: str
    reason: str | None
    doubt: str
    unknown: tuple[str, ...]
    codes: Any


def compare_values(
    rule: Rule, slice_: Mapping[str, str], arms: Arms, cluster: str | None
) -> ComparedValues:
    """The values of the rule's population; if it names none, of the one that SPEC 10 demands."""
    base, candidate = arms.base.where(slice_), arms.candidate.where(slice_)
    matched = _match_arms(rule, base, candidate)
    conditions = verdict_conditions(matched, arms)
    if rule.proof == "of_breach":
        conditions = tolerate_chance(conditions, matched)
    named = Measure(str(rule.metric), rule.i, rule.population or "all")
    decisive = measure_to_compare(named, conditions)
    everyone = extend_to_everyone(named) if rule.population is None else None
    if conditions.search_could_decide and everyone is not None:
        included = _match_arms(rule, base.everyone(), candidate.everyone())
        if _looks_worse(rule, sample(included, everyone), sample(matched, named)):
            decisive = everyone
    measure = decisive if rule.population is None else named
    switched = ""
    if measure != named:
        idle = (
            len(arm.without_search.ids) if arm.without_search else 0 for arm in (base, candidate)
        )
        switched = f" (everyone: {' -> '.join(f'{count:,}' for count in idle)} did not search)"
    if measure.population == "everyone":
        matched = _match_arms(rule, base.everyone(), candidate.everyone())
    values = sample(matched, measure)
    worst = assume_worst_case(measure.metric, values, conditions.max_i)
    metric = metric_by_name(measure.metric)
    reason = reason_to_withhold(measure, values, worst, conditions)
    doubt = ""
    if metric.needs_labels and conditions.labels_by_chance:
        doubt = f"{describe_labels(conditions)}, which may be chance"
    if rule.proof == "of_breach":
        # Of two nights, one always lacks a few more labels than the other, and a small difference
        # can always vanish: this alone is no sign of a breach.
        labels = reason_of_missing_labels(metric, values, conditions)
        if labels is not None and reason == labels:
            reason, doubt = None, labels
    if decisive != measure:
        reason = f"{describe_different_search(conditions)}; population: everyone includes them"
    codes = None
    if cluster is not None and cluster != rule.pair_by:
        codes = cluster_codes(matched, cluster)(values, measure)
    unknown = conditions.without_labels if metric.needs_labels else ()
    return ComparedValues(
        values, matched, measure.population, switched, reason, doubt, unknown, codes
    )


def _looks_worse(rule: Rule, values: Sample, other: Sample) -> bool:
    """Whether the relative change is worse for a rule's metric in these values than in others."""
    if not all(len(arm) for arm in (values.base, values.candidate, other.base, other.candidate)):
        return False
    (_, change), (_, than) = measure_change(values), measure_change(other)
    direction = metric_by_name(str(rule.metric)).direction
    if direction == "neither":
        return change * than <= 0
    return change < than if direction == "higher" else change > than


def _match_arms(rule: Rule, base: Arm, candidate: Arm) -> Matched:
    if rule.pair_by is None:
        return match_conversations(base, candidate)
    return match(base, candidate, rule.pair_by, paired=True)


def measure_change(values: Sample) -> tuple[float, float]:
    """The difference of the means, and relative to the baseline's (0 if that is 0)."""
    before, after = float(values.base.mean()), float(values.candidate.mean())
    return after - before, (after - before) / abs(before) if before else 0.0
