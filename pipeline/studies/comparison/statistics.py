"""From the values of a measure to its row; then the correction of p values, and the verdicts."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import xxhash
from msgspec.structs import asdict

from goodgain.pipeline.studies.comparison.clusters import CodesOf
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow
from goodgain.pipeline.studies.comparison.correction import TestedRow
from goodgain.pipeline.studies.comparison.matching import Matched, Sample, sample
from goodgain.pipeline.studies.comparison.measures import Measure, Measures
from goodgain.pipeline.studies.comparison.request import Tests
from goodgain.pipeline.studies.comparison.verdict_conditions import VerdictConditions
from goodgain.pipeline.studies.comparison.withholding import (
    describe_reached,
    is_outcome,
    reason_to_withhold,
)
from goodgain.pipeline.studies.comparison.worst_case import assume_worst_case
from goodgain.transforms.core.comparison.differences import MetricComparison
from goodgain.transforms.core.comparison.gsb import good_same_bad
from goodgain.transforms.core.comparison.paired_difference import compare_paired
from goodgain.transforms.core.comparison.samples import round_differences
from goodgain.transforms.core.comparison.scipy_statistics import (
    bootstrap_interval,
    sign_test,
    wilcoxon,
)
from goodgain.transforms.core.comparison.unpaired_difference import compare_unpaired
from goodgain.transforms.core.metrics.by_name import metric_by_name, name_so_far


def row_of(
    slice_: dict[str, str],
    measure: Measure,
    matched: Matched,
    conditions: VerdictConditions,
    measures: Measures,
    tests: Tests,
    clusters: CodesOf | None,
) -> TestedRow:
    """The row of one measure in one slice."""
    values, paired = sample(matched, measure), matched.paired
    codes: Any = None if clusters is None else clusters(values, measure)
    compare: Any = compare_paired if paired else compare_unpaired
    compared: MetricComparison = compare(values.base, values.candidate, tests.options, codes)
    metric = metric_by_name(measure.metric)
    better = metric.direction
    family = measures.family(measure)
    worst = assume_worst_case(measure.metric, values, conditions.max_i)
    notes = [compared.note] if compared.note else []
    if is_outcome(measure.metric) and worst is not None:
        notes.append(describe_reached(values))
    requested: dict[str, Any] = {}
    tolerance = measures.tolerance_of(measure)
    if paired and better != "neither":
        counted = good_same_bad(
            values.base, values.candidate, tolerance, better, tests.options.confidence
        )
        requested |= {name: getattr(counted, name) for name in ("good", "same", "bad", "gsb")}
        if clusters is None:  # the interval assumes independent pairs
            requested |= {"gsb_ci_low": counted.ci_low, "gsb_ci_high": counted.ci_high}
    if tests.resamples and family != "further":
        of_row = msgspec.json.encode((slice_, measure), order="sorted")
        interval = bootstrap_interval(
            values.base,
            values.candidate,
            compared.design,
            np.random.default_rng([tests.seed, xxhash.xxh3_64_intdigest(of_row)]),
            tests.resamples,
            tests.options.confidence,
        )
        requested["bootstrap_ci_low"] = interval.ci_low
        requested["bootstrap_ci_high"] = interval.ci_high
        requested["bootstrap_resamples"] = tests.resamples
        notes += [f"bootstrap: {interval.note}"] if interval.note else []
    if paired and tests.wilcoxon:
        ranked = wilcoxon(values.base, values.candidate)
        requested["wilcoxon_p"], requested["rank_biserial"] = ranked.p_value, ranked.rank_biserial
    if paired and tests.sign:
        requested["sign_p"] = sign_test(values.base, values.candidate)
    if worst is not None:
        means = ("base_mean", "candidate_mean", "difference")
        requested |= {f"worst_{name}": getattr(worst, name) for name in means}
    row = ComparisonRow(
        slice=slice_,
        metric=measure.metric,
        i=measure.i,
        population=measure.population,
        direction=better,
        own_ideal=conditions.has_own_ideal(metric),
        family=family,
        tolerance=tolerance,
        reason=reason_to_withhold(measure, values, worst, conditions),
        **{name: getattr(values, name) for name in _LEFT_OUT},
        **(asdict(compared) | {"note": "; ".join(notes) or None}),
        **requested,
    )
    return TestedRow(row, _test(slice_, measure, values))


_LEFT_OUT = (
    "only_in_base", "only_in_candidate", "undefined_in_base", "undefined_in_candidate",
    "undefined_in_both",
)  # fmt: skip


def _test(slice_: dict[str, str], measure: Measure, values: Sample) -> int:
    """A number that is the same for rows of one slice and metric that make the same test.

    A metric at N and its counterpart at i count as one metric. Tests do not depend on the scale,
    which is all that differs in gain per iteration after the last iteration.
    """
    by_i = name_so_far(measure.metric) if measure.i is None else None
    contrast = by_i or measure.metric
    if values.paired:
        tested, of = round_differences(values.base, values.candidate), values.shared
    else:
        tested, of = np.concatenate((values.base, values.candidate)), np.array([values.base.size])
    digest = xxhash.xxh3_64(msgspec.json.encode((slice_, contrast), order="sorted"))
    digest.update(of.tobytes())
    greatest = float(np.abs(tested).max(initial=0.0)) or 1.0
    digest.update((tested / greatest).astype(np.float32).tobytes())  # without rounding errors
    return digest.intdigest()
