"""Correcting the p values of each family, and the verdicts that follow."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from goodgain.pipeline.comparison.measures import Family
from goodgain.pipeline.comparison.rows import ComparisonRow, Verdict
from goodgain.pipeline.comparison.statistics import IntervalAt, TestedRow
from goodgain.transforms.core.comparison.adjustment import AdjustmentMethod, adjust

_METHODS: tuple[AdjustmentMethod, ...] = ("holm", "benjamini_hochberg")
_TESTS = {"p_value": "p", "wilcoxon_p": "wilcoxon_p", "sign_p": "sign_p"}


def corrected(
    tested: Sequence[TestedRow], verdict_by: AdjustmentMethod
) -> tuple[list[ComparisonRow], dict[tuple[Family, bool], int]]:
    """The rows with corrected p values and verdicts, in the same order.

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
    families: dict[tuple[Family, bool], dict[int, list[int]]] = {}
    for at, one in enumerate(tested):
        if one.row.reason is None:
            family = one.row.family, bool(one.row.slice)
            families.setdefault(family, {}).setdefault(one.test, []).append(at)
    rows = [one.row for one in tested]
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
    decided = [
        _decided(row, one.interval_at, verdict_by) for row, one in zip(rows, tested, strict=True)
    ]
    return decided, tests


def corrected_p(row: ComparisonRow, verdict_by: AdjustmentMethod) -> float | None:
    """The p value that decides the verdict."""
    return row.p_holm if verdict_by == "holm" else row.p_benjamini_hochberg


def _decided(
    row: ComparisonRow, interval_at: IntervalAt | None, verdict_by: AdjustmentMethod
) -> ComparisonRow:
    p = corrected_p(row, verdict_by)
    # 1 - 0.95 is a little more than 0.05.
    level = round(1 - row.confidence, 12)
    verdict = _verdict(row, p, level)
    if row.p_value is None or p is None or interval_at is None:
        return replace(row, verdict=verdict)
    # The correction multiplies p by a factor; dividing the level by it gives the same verdict.
    confidence = 1 - level * (row.p_value / p) if p else row.confidence
    low, high = interval_at(confidence)
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
