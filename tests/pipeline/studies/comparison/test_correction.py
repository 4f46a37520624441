"""Corrected p values and the resulting verdicts, from given p values."""

import numpy as np
import pytest

from goodgain.pipeline.studies.comparison.correction import TestedRow as RowWithP
from goodgain.pipeline.studies.comparison.correction import correct
from goodgain.pipeline.studies.comparison.matching import Sample
from goodgain.pipeline.studies.comparison.measures import Measure
from goodgain.pipeline.studies.comparison.statistics import _test
from tests.pipeline.studies.comparison.test_answer import comparison_row


def rows_with(p_values, first=0, **more):
    """Rows with these p values, each of a test of its own."""
    return [
        RowWithP(
            comparison_row(
                f"m{at}", **{"difference": 1.0, "direction": "higher"} | more, p_value=p
            ),
            test,
        )
        for test, (at, p) in enumerate(enumerate(p_values), start=first)
    ]


@pytest.mark.parametrize(
    ("method", "better"), [("holm", [True, False, False]), ("benjamini_hochberg", [True] * 3)]
)
def test_the_chosen_correction_decides_verdicts(method, better):
    """Holm: 0.03, 0.06, 0.06. Benjamini-Hochberg: 0.03, 0.0375, 0.0375 (of 0.0375 and 0.045)."""
    rows = correct(rows_with([0.01, 0.03, 0.0375]), method)[0]
    assert [row.p_holm for row in rows] == pytest.approx([0.03, 0.06, 0.06])
    assert [row.p_benjamini_hochberg for row in rows] == pytest.approx([0.03, 0.0375, 0.0375])
    assert [row.verdict == "better" for row in rows] == better


def test_rows_of_slices_are_corrected_separately_from_those_of_all_conversations():
    whole, slices = rows_with([0.02, 0.02]), rows_with([0.01] * 8, slice={"market": "de"})
    rows, tests = correct([*whole, *slices], "holm")
    assert tests == {("declared", False): 2, ("declared", True): 8}
    assert [row.p_holm for row in rows] == pytest.approx([0.04] * 2 + [0.08] * 8)
    assert [row.verdict for row in rows] == ["better"] * 2 + ["not shown"] * 8
    assert correct(whole, "holm")[0] == rows[:2]


def test_rows_that_make_the_same_test_count_once():
    """Without the copies Holm multiplies 0.01 by 2; they get what the row has that they repeat."""
    two = rows_with([0.01, 0.04])
    copies = [two[0]] * 5
    rows, tests = correct([*two, *copies], "holm")
    assert tests == {("declared", False): 2}
    assert [row.p_holm for row in rows] == pytest.approx([0.02, 0.04] + [0.02] * 5)
    assert {row.verdict for row in rows} == {"better"}


def test_a_copy_counts_if_the_verdict_of_what_it_repeats_is_withheld():
    withheld = rows_with([0.01], reason="own ideal")
    rows, tests = correct([*withheld, *rows_with([0.01]), *rows_with([0.04], first=1)], "holm")
    assert [row.p_holm for row in rows] == pytest.approx([None, 0.02, 0.04])
    assert tests == {("declared", False): 2}


def test_rows_in_which_no_value_differs_do_not_count():
    """They cannot reject, whatever the others show; Wilcoxon's test and the sign test have none."""
    equal = rows_with([1.0] * 4, first=2, difference=0.0, stderr=None)
    rows, tests = correct([*rows_with([0.02, 0.04]), *equal], "benjamini_hochberg")
    assert tests == {("declared", False): 2}
    assert [row.p_holm for row in rows] == pytest.approx([0.04, 0.04] + [1.0] * 4)
    assert [row.p_benjamini_hochberg for row in rows] == [0.04, 0.04] + [1.0] * 4
    assert [row.verdict for row in rows] == ["better"] * 2 + ["not shown"] * 4


def test_metrics_without_a_form_by_i_are_tests_of_their_own():
    """Equal values of two metrics at N are two tests, also where neither has a form at i."""
    base, candidate = np.array([0.0, 1.0]), np.array([1.0, 1.0])
    values = Sample(base, candidate, (base, candidate), np.arange(2), True, 0, 0, 0, 0, 0)
    numbers = {_test({}, Measure(name, None, "all"), values) for name in ("ndcg@5", "ndcg@10", "N")}
    assert len(numbers) == 3
