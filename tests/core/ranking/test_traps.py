"""METRIC_TRAPS: worked examples on which evaluation tools disagree, and our values."""

from __future__ import annotations

import pytest

from goodgain.transforms.core.ranking.binary import count_judged
from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
from goodgain.transforms.core.ranking.names import parse_ranking_metrics
from goodgain.transforms.core.ranking.ranked_list import HELD_COPY, UNJUDGED
from tests.core.ranking.agreement import disagreements

X = UNJUDGED
SIX_DECIMALS = 5e-7  # half a unit of the sixth printed decimal


def check(labels, pool, expected, scores=None, threshold=1, g_max=4):
    evaluator = RankingEvaluator(parse_ranking_metrics(expected), threshold, g_max)
    values = evaluator.evaluate(labels, pool, scores)
    assert not disagreements(dict(zip(expected, values, strict=True)), expected, abs=SIX_DECIMALS)


def test_01_rank_is_given_and_tied_scores_do_not_re_sort():
    check([1, 0, 0], [1, 0, 0], {"mrr": 1.0}, scores=[1.0, 1.0, 1.0])


def test_02_precision_divides_by_k_even_when_the_list_is_shorter():
    expected = {
        "precision@5": 0.2,
        "precision": 0.5,
        "recall@5": 1 / 3,
        "f1@5": 0.25,
        "f1": 0.4,
        "r_precision": 1 / 3,
    }
    check([1, X], [1, 1, 1], expected)


def test_03_bpref_ignores_unjudged_results():
    check([0, 1, X, 0, 1], [1, 1, 1, 0, 0], {"bpref": 0.166667})


def test_04_bpref_without_judged_non_relevant():
    check([X, 1, 1], [1, 1], {"bpref": 1.0})


def test_05_the_ideal_is_over_the_pool():
    expected = {
        "dcg": 3.5,
        "ndcg@2": 0.469279,
        "ndcg@3": 0.735007,
        "dcg_burges": 6.5,
        "ndcg_burges@2": 0.337352,
        "ndcg_burges@3": 0.692020,
    }
    check([2, X, 3], [3, 2, 1], expected)


def test_06_the_cutoff_does_not_shrink_to_the_list():
    # Equal gains would give 0.469279; 3, 2 and 1 give 3 / (3 + 2 / log2(3) + 1 / 2).
    check([1], [1, 1, 1], {"ndcg@3": 0.469279})
    check([3], [3, 2, 1], {"ndcg@3": 0.630006})


def test_07_map_divides_by_all_relevant():
    check([1, 0, 1], [1] * 6 + [0], {"map@2": 0.166667, "map": 0.277778})


def test_08_reciprocal_rank_beyond_the_cutoff_is_0():
    check([0, 0, 1], [0, 0, 1], {"mrr@2": 0.0, "mrr": 0.333333})


@pytest.mark.parametrize("labels", [[1, 0, 1, 0], [3, 0, 1, 0]])
def test_09_rbp_is_binary(labels):
    check(labels, labels, {"rbp.8": 0.328})


@pytest.mark.parametrize(
    ("g_max", "err", "nerr"),
    [(4, 0.305990, 0.612278), (3, 0.557292, 0.618051), (5, 0.159831, None)],
)
def test_10_err_takes_g_max_from_the_configuration(g_max, err, nerr):
    expected = {"err": err} if nerr is None else {"err": err, "nerr": nerr}
    check([2, 0, 3], [3, 2, 1], expected, g_max=g_max)


@pytest.mark.parametrize(
    ("labels", "scores", "auc"),
    [
        ([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], 0.875),
        ([1, 0, 1, 0], [0.5] * 4, 0.5),
        ([1, 1], [0.9, 0.1], None),
        ([0, 0], [0.9, 0.1], None),
    ],
)
def test_11_auc_counts_ties_half(labels, scores, auc):
    check(labels, labels, {"auc": auc}, scores)


def test_30_auc_compares_scores_of_one_call_only():
    evaluator = RankingEvaluator(parse_ranking_metrics(["auc"]), 1)
    labels, scores = [1, 0, 0, 1, 0], [31.0, 20.0, 19.0, 0.9, 0.1]
    assert evaluator.evaluate(labels, labels, scores, [3, 5]) == (1.0,)
    assert evaluator.evaluate(labels, labels, scores) == (pytest.approx(4 / 6),)


def test_12_gauc_is_a_mean_over_groups():
    groups = [
        ([1, 0, 0], [0.9, 0.5, 0.1]),
        ([1, 0], [0.2, 0.8]),
        ([1, 1], [0.7, 0.6]),
        ([1, 0], [0.5, 0.5]),
    ]
    evaluator = RankingEvaluator(parse_ranking_metrics(["auc"]), 1)
    values = [evaluator.evaluate(labels, labels, scores)[0] for labels, scores in groups]
    assert values == [1.0, 0.0, None, 0.5]
    weighted = [
        (value, count_judged(labels))
        for value, (labels, _) in zip(values, groups, strict=True)
        if value is not None
    ]
    assert sum(value for value, _ in weighted) / len(weighted) == 0.5
    total = sum(weight for _, weight in weighted)
    assert sum(v * w for v, w in weighted) / total == pytest.approx(0.571429, abs=SIX_DECIMALS)


def test_13_held_copies_take_up_ranks():
    check([1, 1], [1, 1], {"precision@2": 1.0, "ndcg@3": 1.0})
    check([1, HELD_COPY, 1], [1, 1], {"precision@2": 0.5, "ndcg@3": 0.919721, "recall": 1.0})


@pytest.mark.parametrize("labels", [[1, X], [1, X, HELD_COPY]])
def test_14_the_first_copy_counts(labels):
    check(labels, [1], {"mrr": 1.0})


def test_15_undefined_values_are_null_and_not_averaged():
    evaluator = RankingEvaluator(parse_ranking_metrics(["recall"]), 1)
    values = [evaluator.evaluate([1], [1, 1])[0], evaluator.evaluate([0], [0, 0])[0]]
    assert values == [0.5, None]
    defined = [value for value in values if value is not None]
    assert (len(defined), sum(defined) / len(defined)) == (1, 0.5)


def test_21_graded_gains():
    labels = [3, 2, 3, 0, 1, 2]
    expected = {
        "cg": 11,
        "dcg": 6.861127,
        "ndcg": 0.960808,
        "dcg_burges": 13.848264,
        "ndcg_burges": 0.948811,
    }
    check(labels, labels, expected)


def test_22_average_precision():
    check([1, 0, 1, 0, 0, 1], [1, 1, 1], {"map": 0.722222})


def test_29_reciprocal_rank_without_judgments_counts_conversations_without_a_find():
    """A hundred lists, ten with the relevant document first: 0.1 over 100, not 1.0 over ten."""
    metrics = parse_ranking_metrics(["mrr"])
    lists = [[3, 0]] * 10 + [[0, 0]] * 90
    alone = RankingEvaluator(metrics, 2, judged_outside=False)
    found = [alone.evaluate(labels, labels)[0] for labels in lists]
    assert None not in found
    assert sum(found) / len(found) == pytest.approx(0.1)
    assert RankingEvaluator(metrics, 2).evaluate([0, 0], [0, 0]) == (None,)
