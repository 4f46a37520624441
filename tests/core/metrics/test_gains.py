"""Counts and gains of SPEC 5, computed by hand, and rows extended by empty iterations (SPEC 6)."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from goodgain.transforms.core.metrics.prefix import discount, prefixes
from goodgain.transforms.core.metrics.turn import IterationCounts, Turn
from tests.core.direct import score_one


def counts(*iterations):
    """IterationCounts from (R, UR, GR, G) of each iteration."""
    return [
        IterationCounts(7 * i, 1, results, unique, good, gain)
        for i, (results, unique, good, gain) in enumerate(iterations, start=1)
    ]


def values(prefix):
    """The values of the metrics of an iteration by name."""
    return {metric.name: metric.function(prefix) for metric in GAINS.by_i}


def rows_of(*iterations, at_least=0):
    return list(map(values, prefixes(Turn(counts(*iterations)), at_least)[1:]))


def at_n(name, *iterations):
    (metric,) = (metric for metric in CONVERSATION_METRICS if metric.name == name)
    return metric.function(prefixes(Turn(counts(*iterations)), 0)[-1])


def results(*labels):
    return [{"ids": {"doc_id": document}, "gain": gain} for document, gain in labels]


def test_three_iterations_computed_by_hand():
    score = score_one(
        [
            {"iteration": 1, "results": results(("a", 3), ("b", 2))},
            {"iteration": 2, "results": results(("c", 4), ("d", 1), ("a", 3))},
            {"iteration": 3, "results": results(("e", 2), ("c", 4), ("b", 2))},
        ]
    )
    assert [row.G_i for row in score.iterations] == [5, 4, 2]
    assert [row.R_i for row in score.iterations] == [2, 3, 3]
    assert [row.Dup_i for row in score.iterations] == [0, 1, 2]
    row = score.conversation
    assert (row.N, row.R, row.UR, row.GR, row.DupR, row.CG) == (3, 8, 5, 4, 3, 11)
    assert pytest.approx(8.5237, abs=5e-5) == row.DCG
    assert pytest.approx(1.5) == row.RAG
    assert pytest.approx(1.2249, abs=5e-5) == row.DRAG
    assert (row.SRE, row.SRR) == (0.5, 0.375)
    assert pytest.approx(11 / 3) == row.RG
    assert pytest.approx(row.DCG / 3) == row.DRG
    assert (row.iterations_for_all_good_results, row.iterations_after_last_good) == (3, 0)


def test_search_without_results_keeps_its_i():
    *_, last = rows_of((2, 2, 2, 5), (0, 0, 0, 0), (3, 3, 1, 4))
    assert last["DCG_at_i"] == pytest.approx(7.0)
    assert last["RAG_at_i"] == pytest.approx(1.277778, abs=5e-7)


def test_ratios_are_0_without_results():
    (row,) = rows_of((0, 0, 0, 0))
    assert [row[name] for name in ("AvgGain_i", "SRE_at_i", "SRR_at_i", "CG_at_i")] == [0, 0, 0, 0]


@pytest.mark.parametrize(("i", "weight"), [(1, 1.0), (3, 0.5), (7, 1 / 3)])
def test_discount_of_an_iteration(i, weight):
    assert discount(i) == pytest.approx(weight)


@pytest.mark.parametrize(
    ("good", "for_all", "after_last"),
    [
        ([], None, 0),
        ([0, 0], None, 2),
        ([1, 0, 2, 0], 3, 1),
        ([1], 1, 0),
        ([0] * 119 + [1], 100, 0),
    ],
)
def test_iterations_for_all_good_results_and_after_the_last(good, for_all, after_last):
    iterations = [(3, 3, label, 2 * label) for label in good]
    assert at_n("iterations_for_all_good_results", *iterations) == for_all
    assert at_n("iterations_after_last_good", *iterations) == after_last


@pytest.mark.parametrize(
    ("first", "copy", "gain", "conflicts"),
    [(2, 4, 2, 1), (4, 0, 4, 1), (None, 4, 0, 0), (3, None, 3, 0), (3, 3, 3, 0), (1, 4, 0, 1)],
)
def test_the_label_of_the_first_occurrence_counts(first, copy, gain, conflicts):
    row = score_one([{"results": results(("a", first), ("a", copy))}]).conversation
    assert (row.CG, row.label_conflicts) == (gain, conflicts)
    assert row.unlabelled == [first, copy].count(None)


def test_only_gains_from_the_good_gain_threshold_count():
    record = {"results": results(("a", 1), ("b", 3), ("c", 2))}
    row = score_one([record], good_gain_threshold=3).conversation
    assert (row.GR, row.CG) == (1, 3)


iterations = st.integers(0, 9).flatmap(
    lambda found: st.integers(0, found).flatmap(
        lambda unique: st.integers(0, unique).flatmap(
            lambda good: st.integers(2 * good, 4 * good).map(
                lambda gain: (found, unique, good, gain)
            )
        )
    )
)


@given(st.lists(iterations, min_size=1, max_size=12))
def test_rows_follow_the_formulas(given_iterations):
    for i, row in enumerate(rows_of(*given_iterations), start=1):
        so_far = list(enumerate(given_iterations[:i], start=1))
        retrieved = sum(found for _, (found, *_) in so_far)
        gains = [(k, gain, gain / found if found else 0) for k, (found, _, _, gain) in so_far]
        assert row["R_at_i"] == retrieved
        assert row["CG_at_i"] == sum(gain for _, gain, _ in gains)
        assert row["RG_at_i"] == pytest.approx(row["CG_at_i"] / i)
        assert row["DCG_at_i"] == pytest.approx(sum(gain / log2(k + 1) for k, gain, _ in gains))
        assert row["DRG_at_i"] == pytest.approx(row["DCG_at_i"] / i)
        assert row["RAG_at_i"] == pytest.approx(sum(average for *_, average in gains) / i)
        assert row["DRAG_at_i"] == pytest.approx(
            sum(average / log2(k + 1) for k, _, average in gains) / i
        )
        if retrieved:
            assert row["SRE_at_i"] == row["GR_at_i"] / retrieved
            assert row["SRR_at_i"] + row["UR_at_i"] / retrieved == pytest.approx(1)


@given(st.lists(iterations, min_size=1, max_size=8), st.integers(1, 6))
def test_beyond_the_last_iteration_metrics_are_those_of_empty_iterations(given_iterations, further):
    n = len(given_iterations) + further
    longer = rows_of(*given_iterations, *[(0, 0, 0, 0)] * further)
    for found, expected in zip(rows_of(*given_iterations, at_least=n), longer, strict=True):
        assert {name: found[name] for name in found if name != "calls"} == {
            name: expected[name] for name in expected if name != "calls"
        }
