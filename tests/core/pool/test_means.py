"""Means of pool metrics: populations and intervals (SPEC 6, 9)."""

import pytest
from scipy.stats import binomtest

from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.metrics.pool import POOL
from tests.core.direct import plan
from tests.core.pool.direct import build, score

HALF = "half_of_pool_reached"


def record(conversation_id, topic, *gains, turn_count=1, start=0):
    """One search; result k is document `start + k` of the topic."""
    return {
        "conversation_id": conversation_id,
        "attributes": {"topic": topic},
        "iteration": 1,
        "turn_count": turn_count,
        "results": [
            {"ids": {"doc_id": f"{topic}-{start + at}"}, "gain": gain}
            for at, gain in enumerate(gains)
        ],
    }


def idle(conversation_id, topic):
    """A conversation whose last turn did not search."""
    return record(conversation_id, topic, 4, turn_count=2)


def means(records, pooled):
    accumulator = MeansAccumulator()
    for conversation_score in score(records, build({"A": pooled}, "topic"), metrics=()).values():
        accumulator.add(conversation_values(conversation_score, plan((), 2, groups=(POOL,))))
    return {
        (row.metric, row.i, row.population): row
        for row in accumulator.rows({}, plan((), 2, groups=(POOL,)))
    }


POOLED = [record("p", "t", 2, 2, 2, 2), record("q", "u", 0, 0)]
# Of the four good documents of t they find 3, 2, 1 and, without search, 0; u has none.
RECORDS = [
    record("three", "t", None, None, None),
    record("two", "t", None, None),
    record("one", "t", None),
    idle("none", "t"),
    record("nothing to find", "u", None),
    idle("nothing to find, no search", "u"),
]


@pytest.fixture(scope="module")
def found():
    return means(RECORDS, POOLED)


def test_everyone_counts_a_conversation_without_search_with_0(found):
    for metric, searched, everyone in (
        (HALF, 2 / 3, 2 / 4),
        ("pool_recall", 6 / 12, 6 / 16),
        ("pool_nCG", 6 / 12, 6 / 16),
        ("pool_nDCG", 6 / 12, 6 / 16),
    ):
        row = found[metric, None, "all"]
        assert (row.mean, row.n, row.undefined) == (pytest.approx(searched), 3, 1)
        row = found[metric, None, "everyone"]
        assert (row.mean, row.n, row.undefined) == (pytest.approx(everyone), 4, 2)


def test_everyone_counts_a_conversation_without_search_at_each_i(found):
    for i in (1, 2):
        row = found["pool_recall_at_i", i, "everyone"]
        assert (row.mean, row.n, row.undefined) == (pytest.approx(6 / 16), 4, 2)
        assert found["pool_recall_at_i", i, "all"].n == 3


def test_iterations_for_half_of_the_pool_are_undefined_if_not_reached(found):
    row = found["iterations_for_half_of_pool", None, "everyone"]
    assert (row.mean, row.n, row.undefined) == (1, 2, 4)


@pytest.mark.parametrize("population", ["all", "everyone"])
def test_the_binary_pool_metric_has_wilsons_interval(found, population):
    row = found[HALF, None, population]
    theirs = binomtest(2, row.n).proportion_ci(0.95, method="wilson")
    assert row.interval == "wilson"
    assert (row.ci_low, row.ci_high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))


def test_equal_values_have_wilsons_interval():
    row = means([record(name, "t", None, None) for name in "abc"], POOLED)[HALF, None, "all"]
    theirs = binomtest(3, 3).proportion_ci(0.95, method="wilson")
    assert (row.mean, row.note) == (1, None)
    assert (row.ci_low, row.ci_high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))


def test_only_one_pool_metric_is_binary():
    assert [metric.name for metric in POOL.at_n if metric.binary] == [HALF]
