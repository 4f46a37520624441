"""Declarations of ranking metrics are complete and correct."""

from __future__ import annotations

import pytest

from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.ranking.aspects import Aspects, ListAspects, TopicAspects
from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
from goodgain.transforms.core.ranking.families import FAMILIES
from goodgain.transforms.core.ranking.names import parse_ranking_metrics
from goodgain.transforms.core.ranking.ranked_list import UNJUDGED

SPEC_8 = {
    *("hits", "hit_rate", "precision", "recall", "f1", "r_precision", "bpref", "rbp", "mrr"),
    *("rbp_residual", "map", "cg", "dcg", "dcg_burges", "ndcg", "ndcg_burges", "err", "nerr"),
    *("auc", "judged", "strec", "alpha_ndcg"),
}
WITH_ARGUMENT = {"none": "", "cutoff": "@3", "persistence": ".8"}
LISTS = [
    ([], []),
    ([], [4]),
    ([0, -1], [0]),
    ([-1, -1], [1, 1]),
    ([3], [3]),
    ([-2, 4, 0], [4, 0, 2]),
]


def names():
    for family in FAMILIES.values():
        yield family.name + WITH_ARGUMENT[family.argument]
        if family.argument == "cutoff":
            yield family.name


def test_every_metric_of_spec_8_is_declared():
    assert set(FAMILIES) == SPEC_8


@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
def test_every_family_has_a_source_a_meaning_and_a_formula(family):
    assert "Source:" in family.function.__doc__
    assert family.meaning.endswith(".")
    assert family.formula


def test_every_ranking_metric_carries_words_of_its_own():
    labels = {name: metric_by_name(name).label for name in (*names(), "gauc", "gauc_weighted")}
    assert {name for name, label in labels.items() if not label[0].isupper()} == set()
    assert len(set(labels.values())) == len(labels)
    assert labels["ndcg@3"] == "Normalised discounted gain (ndcg@3)"
    assert labels["precision"] == "Precision"
    assert max(map(len, labels.values())) <= 60


@pytest.mark.parametrize("name", list(names()))
def test_declarations_state_whether_values_can_be_null_or_are_whole(name):
    (metric,) = parse_ranking_metrics([name])
    evaluator = RankingEvaluator([metric], 2)
    values = [evaluator.evaluate(labels, pool)[0] for labels, pool in LISTS]
    if evaluator.needs_aspects:
        aspects = ListAspects([Aspects([b"x"])], TopicAspects((Aspects([b"x", b"y"]),)))
        values += evaluator.evaluate([UNJUDGED], [], aspects=aspects)
    assert (None in values) == bool(metric.declaration.undefined)
    assert metric.declaration.whole == all(isinstance(v, int) for v in values if v is not None)


def test_declarations_state_the_argument():
    (cut, whole, persistent) = parse_ranking_metrics(["precision@5", "precision", "rbp.95"])
    assert cut.declaration.formula == "hits@k / k; k = 5"
    assert cut.declaration.undefined == ""
    assert whole.declaration.formula == "hits@k / k; the whole list, k = n"
    assert whole.declaration.undefined == "no results (n = 0)"
    assert persistent.declaration.formula.endswith("; p = 0.95")


def test_sums_are_rounded_the_same_in_every_python_version():
    """`sum` compensates for rounding since Python 3.12; metrics add one term after the other."""
    labels = [3, 0, 0, 2, 3, 3, 0, 2, 0, 4, 4, 2]
    (value,) = RankingEvaluator(parse_ranking_metrics(["rbp.8"]), 2).evaluate(labels, [])
    total, power = 0.0, 1.0
    for label in labels:
        total += power if label >= 2 else 0.0
        power *= 0.8
    assert value == (1.0 - 0.8) * total
