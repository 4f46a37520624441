"""The figures of a mean, including its interval, against numpy and scipy."""

from math import isclose
from random import Random

import numpy as np
import pytest
from scipy import stats

from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import (
    ConversationValues,
    conversation_values,
)
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from tests.adversarial import trace
from tests.core.averaging import PLAN, RANKING, accumulate
from tests.core.direct import plan, score


@pytest.mark.slow
def test_figures_equal_numpy_and_scipy():
    scores = score(trace(Random(12), conversations=200), metrics=RANKING)
    searched = [score for score in scores.values() if score.conversation.N]
    values = [conversation_values(score, PLAN) for score in searched]
    rows = accumulate(values).rows({}, PLAN)
    at_end = {row.metric: row for row in rows if row.i is None and row.population == "all"}
    compared = 0
    for metric in CONVERSATION_METRICS:
        column = [score.conversation[metric.name] for score in searched]
        assert_figures(at_end[metric.name], column)
        compared += 1
    for row in rows:
        if row.i is not None and row.population == "reached":
            reached = [
                score.iterations[row.i - 1] for score in searched if len(score.iterations) >= row.i
            ]
            assert_figures(row, [iteration[row.metric] for iteration in reached])
            compared += 1
    assert compared == len(CONVERSATION_METRICS) + 4 * len(GAINS.by_i)


def hall(values):
    """Hall's (1992) interval by his own formula."""
    n, mean, stderr = len(values), values.mean(), stats.sem(values)
    a, t = stats.skew(values) / np.sqrt(n), stats.t.ppf(0.975, n - 1)
    ends = [3 * (np.cbrt(1 + a * (y - a / 6)) - 1) / a for y in (t, -t)]
    return mean - stderr * ends[0], mean - stderr * ends[1]


def assert_figures(row, column):
    values = np.array([value for value in column if value is not None], dtype=float)
    assert (row.n, row.undefined) == (len(values), len(column) - len(values))
    low, high = hall(values)
    expected = {
        "mean": values.mean(),
        "stddev": values.std(ddof=1),
        "stderr": stats.sem(values),
        "min": values.min(),
        "max": values.max(),
        "p10": np.quantile(values, 0.1),
        "p50": np.quantile(values, 0.5),
        "p90": np.quantile(values, 0.9),
    }
    if expected["stddev"]:
        expected |= {"ci_low": low, "ci_high": high, "skewness": stats.skew(values)}
        assert (row.interval, row.note) == ("hall", None)
    else:
        assert (row.ci_low, row.ci_high, row.skewness, row.interval) == (None,) * 4
        assert row.note == "no value differs, so there is no interval"
    for name, value in expected.items():
        assert isclose(getattr(row, name), value, rel_tol=1e-9, abs_tol=1e-12), (row.metric, name)


def row_of(metric, values, interval="hall"):
    """The row of means of a ranking metric with these values."""
    accumulator = MeansAccumulator()
    for value in values:
        at_end = (None,) * len(CONVERSATION_METRICS) + (value,)
        accumulator.add(ConversationValues(1, at_end, []))
    rows = accumulator.rows({}, plan([metric], 0), interval)
    (row,) = (row for row in rows if row.metric == metric)
    return row


@pytest.mark.parametrize("metric", ["hit_rate", "hit_rate@10", "precision@1", "hits@1", "mrr@1"])
def test_metrics_that_are_0_or_1_have_wilsons_interval(metric):
    row = row_of(metric, [1.0, 1.0])
    assert (row.ci_low, row.ci_high) == (pytest.approx(0.342380, abs=5e-7), 1.0)
    assert (row.interval, row.note, row.stddev, row.skewness) == ("wilson", None, 0.0, None)
    theirs = stats.binomtest(3, 10).proportion_ci(0.95, method="wilson")
    mixed = row_of(metric, [1.0] * 3 + [0.0] * 7 + [None])
    assert (mixed.ci_low, mixed.ci_high) == pytest.approx((theirs.low, theirs.high))
    assert row_of(metric, [1.0]).note == "one value has no interval"


@pytest.mark.parametrize("metric", ["precision@5", "hits", "recall", "rbp.8", "judged"])
def test_other_metrics_have_halls_interval_even_if_all_values_are_0_or_1(metric):
    assert row_of(metric, [1.0, 0.0, 1.0]).interval == "hall"
    without = row_of(metric, [1.0, 1.0, 1.0])
    assert (without.ci_low, without.note) == (None, "no value differs, so there is no interval")


def test_values_that_differ_only_by_rounding_have_no_interval():
    row = row_of("recall", [0.3, 0.1 + 0.2] * 20)
    assert (row.ci_low, row.skewness, row.interval) == (None, None, None)
    assert row.note == "no value differs, so there is no interval"


def test_students_interval_on_request():
    values = [0.0, 0.1, 0.1, 0.9]
    row = row_of("recall", values, "student")
    theirs = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert (row.ci_low, row.ci_high) == pytest.approx(theirs)
    assert row.interval == "student"
    assert row_of("hit_rate", [0.0, 1.0], "student").interval == "wilson"
