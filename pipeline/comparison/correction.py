"""Correcting the p values of each family, and the verdicts that follow."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from goodgain.pipeline.comparison.rows import ComparisonRow, Verdict
from goodgain.pipeline.comparison.statistics import IntervalAt, TestedRow
from goodgain.transforms.core.comparison import AdjustmentMethod, adjust

_METHODS: tuple[AdjustmentMethod, ...] = ("holm", "benjamini_hochberg")
_TESTS = {"p_value": "p", "wilcoxon_p": "wilcoxon_p", "sign_p": "sign_p"}


def corrected(tested: Sequence[TestedRow], verdict_by: AdjustmentMethod) -> list[ComparisonRow]:
    """The rows with corrected p values and verdicts, in the same order.

    Each family is corrected separately, and within it the overall rows separately from those of
    slices, so that adding slices changes no overall verdict. A row whose verdict is withheld does
    not count as a test.

    Args:
      verdict_by: the correction whose p value of the t-test decides, at the level 1 - confidence.
    """
    rows = [one.row for one in tested]
    corrected_rows = list(rows)
    for family in dict.fromkeys(map(_family, rows)):
        indexes = [
            at for at, row in enumerate(rows) if _family(row) == family and row.reason is None
        ]
        for test, name in _TESTS.items():
            for method in _METHODS:
                values = adjust([getattr(rows[at], test) for at in indexes], method)
                for at, value in zip(indexes, values, strict=True):
                    corrected_rows[at] = replace(corrected_rows[at], **{f"{name}_{method}": value})
    return [
        _decided(row, one.interval_at, verdict_by)
        for row, one in zip(corrected_rows, tested, strict=True)
    ]


def _family(row: ComparisonRow) -> tuple[str, bool]:
    return row.family, bool(row.slice)


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
