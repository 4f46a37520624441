"""The best case is the greatest value over all labels that unjudged results may get (SPEC 8)."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
from goodgain.transforms.core.ranking.families import FAMILIES
from goodgain.transforms.core.ranking.names import parse_ranking_metrics
from goodgain.transforms.core.ranking.ranked_list import HELD_COPY, UNJUDGED

BOUNDED = [
    *("hits", "hits@3", "hit_rate", "hit_rate@2", "precision", "precision@3", "mrr", "mrr@2"),
    *("rbp.8", "cg", "cg@3", "dcg", "dcg@3", "dcg_burges", "dcg_burges@3", "err", "err@3"),
]
UNBOUNDED = [
    *("recall", "recall@3", "f1", "r_precision", "bpref", "map", "ndcg", "ndcg@3"),
    *("ndcg_burges", "nerr", "auc", "rbp_residual.8", "judged@3", "strec", "alpha_ndcg@3"),
]

labels = st.lists(st.one_of(st.integers(0, 4), st.just(UNJUDGED), st.just(HELD_COPY)), max_size=8)


def evaluator(names):
    return RankingEvaluator(parse_ranking_metrics(names), 2, 4)


def test_every_family_is_listed_as_bounded_or_unbounded():
    families = {metric.family for metric in parse_ranking_metrics([*BOUNDED, *UNBOUNDED])}
    assert families == set(FAMILIES)


@given(labels.filter(lambda labels: labels.count(UNJUDGED) <= 3))
def test_values_and_best_cases_are_the_extremes_over_all_labels(labels):
    judged = [label for label in labels if label >= 0]
    pool = [4, *judged]  # one relevant document, so that mrr is defined
    metrics = evaluator(BOUNDED)
    outcomes = []
    for assigned in product(range(5), repeat=labels.count(UNJUDGED)):
        gains = iter(assigned)
        outcome = [next(gains) if label == UNJUDGED else label for label in labels]
        outcomes.append(metrics.evaluate(outcome, [*pool, *assigned]))
    worst, best = metrics.evaluate(labels, pool), metrics.best_case(labels, pool)
    for name, low, high, values in zip(
        BOUNDED, worst, best, zip(*outcomes, strict=True), strict=True
    ):
        if None in values:
            assert (low, high) == (None, None), name
        else:
            assert (low, high) == pytest.approx((min(values), max(values))), name


def test_metrics_that_need_the_number_of_relevant_documents_have_no_best_case():
    best = evaluator(UNBOUNDED).best_case([4, UNJUDGED, 0], [4, 0, 3])
    assert best == (None,) * len(UNBOUNDED)


def test_the_best_case_of_rbp_adds_the_residual_of_unjudged_ranks():
    labels, pool = [4, UNJUDGED, 0, UNJUDGED], [4, 0]
    worst, residual = evaluator(["rbp.8", "rbp_residual.8"]).evaluate(labels, pool)
    best, _ = evaluator(["rbp.8", "rbp_residual.8"]).best_case(labels, pool)
    assert best - worst == pytest.approx(residual - 0.8**4)


def test_undefined_values_have_no_best_case():
    assert evaluator(["mrr"]).best_case([UNJUDGED, 0], [0]) == (None,)
    assert evaluator(["precision"]).best_case([], [3]) == (None,)


@pytest.mark.parametrize(("g_max", "label"), [(2, 2), (4, 4), (9, 4)])
def test_the_best_label_is_g_max_but_at_most_4(g_max, label):
    metrics = RankingEvaluator(parse_ranking_metrics(["cg"]), 2, g_max)
    assert metrics.best_case([UNJUDGED, 1], [1]) == (label + 1,)
