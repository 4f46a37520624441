"""The evaluator follows every formula of SPEC 8 on any list, and keeps invariants."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
from goodgain.transforms.core.ranking.families import FAMILIES
from goodgain.transforms.core.ranking.names import DEFAULT_RANKING_METRICS, parse_ranking_metrics
from goodgain.transforms.core.ranking.ranked_list import HELD_COPY, UNJUDGED
from tests.core.ranking import naive
from tests.core.ranking.agreement import disagreements

ARGUMENTS = {
    "none": [""],
    "cutoff": ["", "@1", "@2", "@3", "@5", "@10", "@1000"],
    "persistence": [".5", ".8", ".95"],
}
EVERY = parse_ranking_metrics(
    family.name + argument
    for family in FAMILIES.values()
    for argument in ARGUMENTS[family.argument]
)
NAMES = [metric.name for metric in EVERY]

gains = st.integers(0, 4)
labels = st.lists(st.one_of(gains, st.sampled_from([UNJUDGED, HELD_COPY])), max_size=25)
unretrieved = st.lists(gains, max_size=10)
score = st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(-10, 10))


def pool_of(labels, unretrieved=()):
    return [*unretrieved, *(label for label in labels if label >= 0)]


@given(labels, unretrieved, st.data())
def test_every_metric_follows_its_formula(labels, unretrieved, data):
    pool = pool_of(labels, unretrieved)
    size = len(labels)
    scores = data.draw(st.one_of(st.none(), st.lists(score, min_size=size, max_size=size)))
    ends = data.draw(st.lists(st.integers(0, size), max_size=5).map(sorted))
    calls = [*ends, size] if ends else []
    evaluator = RankingEvaluator(EVERY, naive.THRESHOLD, naive.G_MAX)
    values = evaluator.evaluate(labels, pool, scores, calls)
    expected = [naive.evaluate(name, labels, pool, scores, calls) for name in NAMES]
    assert not disagreements(
        dict(zip(NAMES, values, strict=True)),
        dict(zip(NAMES, expected, strict=True)),
        rel=1e-12,
        abs=1e-12,
    )


@given(labels, unretrieved, st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
def test_a_value_does_not_depend_on_other_requested_metrics(labels, unretrieved, chosen):
    """Cutoffs determine how far a list is read, which must not change other values."""
    pool = pool_of(labels, unretrieved)
    every = dict(zip(NAMES, RankingEvaluator(EVERY, 2).evaluate(labels, pool), strict=True))
    some = RankingEvaluator(parse_ranking_metrics(chosen), 2).evaluate(labels, pool)
    assert dict(zip(chosen, some, strict=True)) == {name: every[name] for name in chosen}


@given(labels, unretrieved, st.randoms(use_true_random=False))
def test_the_order_of_the_pool_does_not_matter(labels, unretrieved, shuffler):
    pool = pool_of(labels, unretrieved)
    shuffled = list(pool)
    shuffler.shuffle(shuffled)
    evaluator = RankingEvaluator(EVERY, 2)
    assert evaluator.evaluate(labels, pool) == evaluator.evaluate(tuple(labels), tuple(shuffled))


@given(st.lists(gains, min_size=1, max_size=25), unretrieved)
def test_the_ideal_order_has_value_1(retrieved, rest):
    pool = [*retrieved, *rest]
    ideal = sorted(pool, reverse=True)
    names = ["ndcg", "ndcg@5", "ndcg_burges", "nerr", "map", "r_precision", "bpref", "auc"]
    values = RankingEvaluator(parse_ranking_metrics(names), 2).evaluate(ideal, pool)
    assert [value for value in values if value is not None] == pytest.approx(
        [1.0] * sum(value is not None for value in values)
    )


@given(st.lists(st.one_of(gains, st.just(UNJUDGED)), max_size=15), unretrieved, st.data())
def test_a_held_copy_changes_no_metric_without_rank_discounts(labels, unretrieved, data):
    place = data.draw(st.integers(0, len(labels)))
    held = [*labels[:place], HELD_COPY, *labels[place:]]
    names = ["hits", "recall", "bpref", "auc", "cg"]
    evaluator = RankingEvaluator(parse_ranking_metrics(names), 2)
    pool = pool_of(labels, unretrieved)
    assert evaluator.evaluate(held, pool) == evaluator.evaluate(labels, pool)


def test_values_of_an_empty_list_and_an_empty_pool():
    values = RankingEvaluator(DEFAULT_RANKING_METRICS, 2).evaluate([], [])
    by_name = dict(zip((m.name for m in DEFAULT_RANKING_METRICS), values, strict=True))
    assert {name: value for name, value in by_name.items() if value is not None} == {
        "hit_rate@10": 0,
        "precision@5": 0.0,
        "precision@10": 0.0,
        "rbp.8": 0.0,
        "rbp_residual.8": 1.0,
        "err@10": 0.0,
    }


def test_results_without_a_score_rank_below_all_with_one():
    auc = RankingEvaluator(parse_ranking_metrics(["auc"]), 1)
    labels = [1, 0, 1, 0]
    assert auc.evaluate(labels, labels, [None, -5.0, -1.0, None]) == (3 / 4,)
    assert auc.evaluate(labels, labels, [None] * 4) == auc.evaluate(labels, labels) == (3 / 4,)


def test_rejects_scores_that_do_not_match_the_list():
    auc = RankingEvaluator(parse_ranking_metrics(["auc"]), 1)
    with pytest.raises(ValueError, match="1 scores for 2 labels"):
        auc.evaluate([1, 0], [1, 0], [0.5])


@pytest.mark.parametrize(("threshold", "g_max"), [(0, 4), (5, 4), (3, 2)])
def test_rejects_a_threshold_outside_the_scale(threshold, g_max):
    with pytest.raises(UsageError, match=f"relevance_threshold is {threshold}"):
        RankingEvaluator(DEFAULT_RANKING_METRICS, threshold, g_max)


@pytest.mark.parametrize(("labels", "pool"), [([4], [4]), ([], [4])])
def test_err_rejects_a_gain_above_g_max(labels, pool):
    with pytest.raises(UsageError, match="gain 4, above g_max = 3"):
        RankingEvaluator(parse_ranking_metrics(["nerr"]), 1, g_max=3).evaluate(labels, pool)


def test_an_evaluator_can_be_pickled():
    evaluator = RankingEvaluator(EVERY, 2)
    labels = [3, UNJUDGED, 0, 2, HELD_COPY, 4]
    unpickled = pickle.loads(pickle.dumps(evaluator))
    assert unpickled.metrics == evaluator.metrics
    assert unpickled.evaluate(labels, pool_of(labels)) == evaluator.evaluate(
        labels, pool_of(labels)
    )


@pytest.mark.slow
def test_a_long_list_is_exact_to_nine_digits():
    draw = random.Random(7)
    long = [draw.choice([-2, -1, 0, 0, 0, 1, 2, 3, 4]) for _ in range(1_500)]
    pool = pool_of(long, [4] * 50)
    scores = [draw.random() for _ in long]
    names = ["ndcg", "dcg_burges", "map", "rbp.95", "auc", "bpref"]
    values = RankingEvaluator(parse_ranking_metrics(names), naive.THRESHOLD).evaluate(
        long, pool, scores
    )
    expected = [naive.evaluate(name, long, pool, scores) for name in names]
    assert values == pytest.approx(expected, rel=1e-9, abs=0)
