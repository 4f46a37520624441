"""Corrected p values and the verdicts that follow, from p values alone."""

import pytest

from goodgain.pipeline.comparison.correction import corrected
from goodgain.pipeline.comparison.statistics import TestedRow as RowWithP
from tests.pipeline.comparison.test_answer import made


def rows_of(p_values, **more):
    return [
        RowWithP(made(f"m{at}", difference=1.0, p_value=p, direction="higher", **more), None)
        for at, p in enumerate(p_values)
    ]


@pytest.mark.parametrize(
    ("method", "better"), [("holm", [True, False, False]), ("benjamini_hochberg", [True] * 3)]
)
def test_the_correction_asked_for_decides(method, better):
    """Holm: 0.03, 0.06, 0.06. Benjamini-Hochberg: 0.03, 0.0375, 0.0375 (of 0.0375 and 0.045)."""
    rows = corrected(rows_of([0.01, 0.03, 0.0375]), method)
    assert [row.p_holm for row in rows] == pytest.approx([0.03, 0.06, 0.06])
    assert [row.p_benjamini_hochberg for row in rows] == pytest.approx([0.03, 0.0375, 0.0375])
    assert [row.verdict == "better" for row in rows] == better


def test_all_conversations_and_slices_are_two_families():
    whole, slices = rows_of([0.02, 0.02]), rows_of([0.01] * 8, slice={"market": "de"})
    rows = corrected([*whole, *slices], "holm")
    assert [row.p_holm for row in rows] == pytest.approx([0.04] * 2 + [0.08] * 8)
    assert [row.verdict for row in rows] == ["better"] * 2 + ["not shown"] * 8
    assert corrected(whole, "holm") == rows[:2]
