"""The correction of p values of rows, and their verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.studies.comparison.comparison_row import DECIDED, ComparisonRow, Verdict
from goodgain.pipeline.studies.comparison.measures import Family
from goodgain.transforms.core.comparison.adjustment import AdjustmentMethod, adjust

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
