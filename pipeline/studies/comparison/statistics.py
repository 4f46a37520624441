"""From the values of a measure to its row; then the correction of p values, and the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import xxhash
from msgspec import Struct
from msgspec.structs import asdict, replace

from goodgain.pipeline.studies.comparison.clusters import CodesOf
from goodgain.pipeline.studies.comparison.comparison_row import DECIDED, ComparisonRow, Verdict
from goodgain.pipeline.studies.comparison.matching import Matched, Sample, sample
from goodgain.pipeline.studies.comparison.measures import Family, Measure, Measures
from goodgain.pipeline.studies.comparison.request import Tests
from goodgain.pipeline.studies.comparison.verdict_conditions import VerdictConditions
from goodgain.pipeline.studies.comparison.withholding import (
    describe_reached,
    is_outcome,
    reason_to_withhold,
)
from goodgain.pipeline.studies.comparison.worst_case import assume_worst_case
from goodgain.transforms.core.comparison.adjustment import AdjustmentMethod, adjust
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
from goodgain.transforms.core.metrics.by_name import at_i, metric_by_name

_METHODS: tuple[AdjustmentMethod, ...] = ("holm", "benjamini_hochberg")
_TESTS = {"p_value": "p", "wilcoxon_p": "wilcoxon_p", "sign_p": "sign_p"}


class TestedRow(Struct, frozen=True):
    """A row without corrected p values and verdict yet.

    Attributes:
      test: the same number for rows of one slice and metric that test the same differences.
      over_everyone: the same measure over all conversations, where the arms differ in how many did
        not search, so that it could decide otherwise (SPEC 10).
    """

    row: ComparisonRow
    test: int
    over_everyone: TestedRow | None = None


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
    by_i = at_i(measure.metric) if measure.i is None else None
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


def correct(
    tested: Sequence[TestedRow], verdict_by: AdjustmentMethod
) -> tuple[list[ComparisonRow], dict[tuple[Family, bool], int]]:
    """The rows with corrected p values and verdicts, in the same order.

    A verdict that missing searches could make is replaced by that over everyone: a better or worse
    one unless the difference has the same sign there, and any other if there is one (SPEC 10).

    Each family is corrected separately, and within it the overall rows separately from those of
    slices, so that adding slices changes no overall verdict. Rows that make the same test, like
    those of iterations after the last one, count as one test. Not counted are rows whose verdict is
    withheld, and those in which no value differs: they cannot reject.

    Args:
      verdict_by: the correction whose p value of the t-test decides, at the level 1 - confidence.

    Returns:
      The rows; and the number of t-tests that were corrected together, by family, and whether in
      slices.
    """
    rows, tests = _correct(tested, verdict_by)
    if all(row.over_everyone is None for row in tested):
        return rows, tests
    of_everyone, _ = _correct([row.over_everyone or row for row in tested], verdict_by)
    deciding = [
        tested_row.over_everyone
        if tested_row.over_everyone and _is_overruled(row, everyone)
        else tested_row
        for tested_row, row, everyone in zip(tested, rows, of_everyone, strict=True)
    ]
    return _correct(deciding, verdict_by)


def _is_overruled(row: ComparisonRow, everyone: ComparisonRow) -> bool:
    """Whether the verdict over everyone replaces that over the conversations that searched."""
    if row.reason is not None:
        return False
    if row.verdict in DECIDED:
        return (row.difference or 0.0) * (everyone.difference or 0.0) <= 0
    return everyone.verdict in DECIDED


def _correct(
    tested: Sequence[TestedRow], verdict_by: AdjustmentMethod
) -> tuple[list[ComparisonRow], dict[tuple[Family, bool], int]]:
    """`correct`, with the rows that are given."""
    families: dict[tuple[Family, bool], dict[int, list[int]]] = {}
    for at, tested_row in enumerate(tested):
        if tested_row.row.reason is None:
            family = tested_row.row.family, bool(tested_row.row.slice)
            families.setdefault(family, {}).setdefault(tested_row.test, []).append(at)
    rows = [without_p.row for without_p in tested]
    tests = {}
    for family, same in families.items():
        first = [tested[indexes[0]].row for indexes in same.values()]
        for test, name in _TESTS.items():
            p_values = [None if row.without_difference else getattr(row, test) for row in first]
            if test == "p_value":
                tests[family] = len(p_values) - p_values.count(None)
            for method in _METHODS:
                values = adjust(p_values, method)
                for row, indexes, value in zip(first, same.values(), values, strict=True):
                    p = getattr(row, test) if value is None else value
                    for at in indexes:
                        rows[at] = replace(rows[at], **{f"{name}_{method}": p})
    return [_decide(row, verdict_by) for row in rows], tests


def deciding_p(row: ComparisonRow, verdict_by: AdjustmentMethod) -> float | None:
    """The p value that decides the verdict."""
    return row.p_holm if verdict_by == "holm" else row.p_benjamini_hochberg


def _decide(row: ComparisonRow, verdict_by: AdjustmentMethod) -> ComparisonRow:
    p = deciding_p(row, verdict_by)
    # 1 - 0.95 is a little more than 0.05.
    level = round(1 - row.confidence, 12)
    verdict = _verdict(row, p, level)
    difference = row.studentized
    if row.p_value is None or p is None or difference is None:
        return replace(row, verdict=verdict)
    # The correction multiplies p by a factor; dividing the level by it gives the same verdict.
    confidence = 1 - level * (row.p_value / p) if p else row.confidence
    low, high = difference.interval(confidence)
    return replace(
        row,
        verdict=verdict,
        verdict_confidence=confidence,
        verdict_ci_low=low,
        verdict_ci_high=high,
    )


def _verdict(row: ComparisonRow, p: float | None, level: float) -> Verdict:
    if row.reason is not None:
        return "not comparable"
    if p is None or row.difference is None:
        return "not tested"
    if p > level or row.difference == 0:
        return "not shown"
    if row.direction == "neither":
        return "changed"
    return "better" if (row.difference > 0) == (row.direction == "higher") else "worse"
