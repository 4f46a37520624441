"""Bounds hold every outcome that unlabelled results could have, and are reached."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.core.ranking import (
    FAMILIES,
    HELD_COPY,
    UNJUDGED,
    RankingEvaluator,
    parse_ranking_metrics,
)

BOUNDED = [
    *("hits", "hits@3", "hit_rate", "hit_rate@2", "precision", "precision@3", "mrr", "mrr@2"),
    *("rbp.8", "cg", "cg@3", "dcg", "dcg@3", "dcg_burges", "dcg_burges@3", "err", "err@3"),
]
UNBOUNDED = [
    *("recall", "recall@3", "f1", "r_precision", "bpref", "map", "ndcg", "ndcg@3"),
    *("ndcg_burges", "nerr", "auc", "rbp_residual.8", "judged@3"),
]

labels = st.lists(st.one_of(st.integers(0, 4), st.just(UNJUDGED), st.just(HELD_COPY)), max_size=8)


def evaluator(names):
    return RankingEvaluator(parse_ranking_metrics(names), 2, 4)


def test_every_family_is_either_bounded_or_not():
    families = {metric.family for metric in parse_ranking_metrics([*BOUNDED, *UNBOUNDED])}
    assert families == set(FAMILIES)


@given(labels.filter(lambda labels: labels.count(UNJUDGED) <= 3))
def test_bounds_are_the_extremes_over_all_outcomes(labels):
    judged = [label for label in labels if label >= 0]
    pool = [4, *judged]  # one relevant document, so that mrr is defined
    metrics = evaluator(BOUNDED)
    outcomes = []
    for turned in product(range(5), repeat=labels.count(UNJUDGED)):
        gains = iter(turned)
        outcome = [next(gains) if label == UNJUDGED else label for label in labels]
        outcomes.append(metrics.evaluate(outcome, [*pool, *turned]))
    bounds = metrics.bounds(labels, pool)
    for name, bound, values in zip(BOUNDED, bounds, zip(*outcomes, strict=True), strict=True):
        extremes = None if None in values else pytest.approx((min(values), max(values)))
        assert bound == extremes, name


@given(labels)
def test_the_worst_case_is_the_value_itself(labels):
    pool = [4, *(label for label in labels if label >= 0)]
    metrics = evaluator(BOUNDED)
    worst = [bound and bound[0] for bound in metrics.bounds(labels, pool)]
    assert worst == list(metrics.evaluate(labels, pool))


def test_metrics_that_need_the_number_of_relevant_documents_have_none():
    assert evaluator(UNBOUNDED).bounds([4, UNJUDGED, 0], [4, 0, 3]) == (None,) * len(UNBOUNDED)


def test_rbp_rises_by_what_the_unjudged_ranks_hold():
    names = ["rbp.8", "rbp_residual.8"]
    (bound, _), (_, residual) = (
        evaluator(names).bounds([4, UNJUDGED, 0, UNJUDGED], [4, 0]),
        evaluator(names).evaluate([4, UNJUDGED, 0, UNJUDGED], [4, 0]),
    )
    assert bound[1] - bound[0] == pytest.approx(residual - 0.8**4)


def test_undefined_has_no_bounds():
    assert evaluator(["mrr"]).bounds([UNJUDGED, 0], [0]) == (None,)
    assert evaluator(["precision"]).bounds([], [3]) == (None,)
