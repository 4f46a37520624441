"""Corrected p values and the resulting verdicts, from given p values."""

import pytest

from goodgain.pipeline.comparison.correction import corrected
from goodgain.pipeline.comparison.statistics import TestedRow as RowWithP
from tests.pipeline.comparison.test_answer import comparison_row


def rows_with(p_values, **more):
    return [
        RowWithP(
            comparison_row(f"m{at}", difference=1.0, p_value=p, direction="higher", **more), None
        )
        for at, p in enumerate(p_values)
    ]


@pytest.mark.parametrize(
    ("method", "better"), [("holm", [True, False, False]), ("benjamini_hochberg", [True] * 3)]
)
def test_the_chosen_correction_decides_verdicts(method, better):
    """Holm: 0.03, 0.06, 0.06. Benjamini-Hochberg: 0.03, 0.0375, 0.0375 (of 0.0375 and 0.045)."""
    rows = corrected(rows_with([0.01, 0.03, 0.0375]), method)
    assert [row.p_holm for row in rows] == pytest.approx([0.03, 0.06, 0.06])
    assert [row.p_benjamini_hochberg for row in rows] == pytest.approx([0.03, 0.0375, 0.0375])
    assert [row.verdict == "better" for row in rows] == better


def test_rows_of_slices_are_corrected_separately_from_those_of_all_conversations():
    whole, slices = rows_with([0.02, 0.02]), rows_with([0.01] * 8, slice={"market": "de"})
    rows = corrected([*whole, *slices], "holm")
    assert [row.p_holm for row in rows] == pytest.approx([0.04] * 2 + [0.08] * 8)
    assert [row.verdict for row in rows] == ["better"] * 2 + ["not shown"] * 8
    assert corrected(whole, "holm") == rows[:2]
