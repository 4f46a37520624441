"""Means over less than half of the conversations give a warning (SPEC 10, `mostly_undefined`)."""

from types import SimpleNamespace

import pytest

from goodgain.transforms.core.warnings.check_inputs import (
    CheckInputs,
    UndefinedMetric,
    find_undefined_metrics,
)
from goodgain.transforms.core.warnings.checks import warnings_of
from tests.core.direct import shipped_rules


@pytest.mark.parametrize(
    ("undefined", "conversations", "warns"),
    [(6, 10, True), (5, 10, False), (8, 9, False), (90, 100, True)],
)
def test_a_metric_that_is_mostly_undefined_gives_a_warning(undefined, conversations, warns):
    inputs = CheckInputs(
        {},
        good_gain_threshold=2,
        rules=shipped_rules(),
        undefined=[
            UndefinedMetric("map", undefined, conversations),
            UndefinedMetric("mrr", 1, conversations),
        ],
    )
    found = [warning for warning in warnings_of(inputs) if warning.code == "mostly_undefined"]
    assert bool(found) == warns
    for warning in found:
        assert (warning.count, warning.share) == (undefined, undefined / conversations)
        assert f"map of {conversations - undefined} of {conversations}" in warning.message
        assert "mrr" not in warning.message


@pytest.mark.parametrize(
    ("ranking", "own", "judge"), [(True, False, True), (False, True, False), (True, True, True)]
)
def test_what_helps_depends_on_whose_metrics_are_undefined(ranking, own, judge):
    metrics = [
        *([UndefinedMetric("map", 90, 100)] if ranking else []),
        *([UndefinedMetric("mine", 80, 100, own=True)] if own else []),
    ]
    inputs = CheckInputs({}, 2, shipped_rules(), undefined=metrics)
    (warning,) = [found for found in warnings_of(inputs) if found.code == "mostly_undefined"]
    assert ("--qrels" in warning.remedy) == judge
    assert ("Let mine return a number" in warning.remedy) == own


def test_undefined_metrics_come_in_the_order_in_which_they_were_chosen():
    rows = [
        SimpleNamespace(slice={}, metric=metric, i=None, population="all", n=n, undefined=undefined)
        for metric, n, undefined in (("auc", 3, 9), ("map", 0, 12), ("mrr", 12, 0), ("ndcg", 6, 6))
    ]
    expected = [UndefinedMetric("ndcg", 6, 12), UndefinedMetric("auc", 9, 12)]
    chosen = ["ndcg", "mrr", "map", "auc", "rbp.8"]
    assert (
        find_undefined_metrics(rows, chosen)
        == find_undefined_metrics(rows[::-1], chosen)
        == expected
    )
