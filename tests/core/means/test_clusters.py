"""Means over clusters of conversations: the formula of SPEC 6, edge cases, and any order."""

from fractions import Fraction
from math import sqrt
from random import Random

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from goodgain.transforms.core.exact_sum import sum_exactly
from goodgain.transforms.core.means import clusters as module
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.cluster_variance import ClusterVariance, are_few_effective
from goodgain.transforms.core.means.values import ConversationValues, conversation_values
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from tests.adversarial import trace
from tests.core.averaging import copy_by_bytes, exact_rows, merge_randomly
from tests.core.direct import plan, score

RANKING = ("recall", "hit_rate", "ndcg@3")


def accumulate(conversations, ranking=("rbp.8",)):
    """Conversations as (cluster, value of the metric)."""
    accumulator = MeansAccumulator()
    nothing = (None,) * (len(CONVERSATION_METRICS) + len(ranking) - 1)
    for cluster, value in conversations:
        accumulator.add(ConversationValues(1, (*nothing, value), [], cluster=cluster))
    return accumulator


def row_of(conversations, metric="rbp.8"):
    (row,) = (
        row
        for row in accumulate(conversations, [metric]).rows({}, plan([metric], 0))
        if row.metric == metric
    )
    return row


def by_definition(conversations):
    """(clusters, mean, stderr, low, high) straight from SPEC 6, in exact arithmetic."""
    groups = {}
    for at, (cluster, value) in enumerate(conversations):
        if value is not None:
            groups.setdefault(cluster or at, []).append(Fraction(value))
    n = sum(map(len, groups.values()))
    mean = sum(map(sum, groups.values())) / n
    count = len(groups)
    squares = sum((sum(group) - len(group) * mean) ** 2 for group in groups.values())
    stderr = sqrt(Fraction(count, count - 1) * squares / n**2)
    reach = stats.t.ppf(0.975, count - 1) * stderr
    return count, float(mean), stderr, float(mean) - reach, float(mean) + reach


values = st.none() | st.floats(0, 1) | st.integers(0, 3).map(float)
conversations = st.lists(st.tuples(st.sampled_from(["", "a", "b", "c"]), values), max_size=30)


@given(conversations)
def test_rows_follow_the_definition(pairs):
    row = row_of(pairs)
    defined = [value for _, value in pairs if value is not None]
    assert (row.n, row.undefined) == (len(defined), len(pairs) - len(defined))
    if len(defined) < 2:
        assert row.ci_low is None
        return
    clusters = {(cluster or at) for at, (cluster, value) in enumerate(pairs) if value is not None}
    assert row.clusters == len(clusters)
    if len(clusters) < 2:
        assert (row.stderr, row.ci_low, row.interval) == (None, None, None)
        assert row.note == "one cluster has no interval"
        return
    count, mean, stderr, low, high = by_definition(pairs)
    assert (row.clusters, row.mean) == (count, pytest.approx(mean))
    assert row.stderr == pytest.approx(stderr, rel=1e-9, abs=1e-15)
    if stderr <= 1e-12 * max(defined):
        assert (row.ci_low, row.interval) == (None, None)
        assert row.note == "no cluster differs from another, so there is no interval"
    else:
        assert (row.ci_low, row.ci_high) == pytest.approx((low, high), rel=1e-9, abs=1e-12)
        assert (row.interval, row.note) == ("clusters", None)


def test_two_clusters_computed_by_hand():
    """S - n mean: (1 + 2 + 3) - 3 * 3, (4 + 5) - 2 * 3: -3 and 3; stderr^2 = 2 * 18 / 25."""
    row = row_of([("a", 1.0), ("a", 2.0), ("a", 3.0), ("b", 4.0), ("b", 5.0), ("b", None)])
    assert (row.mean, row.clusters, row.n, row.undefined) == (3, 2, 5, 1)
    assert row.stderr == pytest.approx(sqrt(36 / 25))
    assert row.ci_high - 3 == pytest.approx(stats.t.ppf(0.975, 1) * 1.2)


def test_an_undefined_value_does_not_count_as_a_cluster():
    assert row_of([("a", 1.0), ("b", 2.0), ("c", None)]) == msgspec.structs.replace(
        row_of([("a", 1.0), ("b", 2.0)]), undefined=1
    )


def test_clusters_of_one_conversation_have_the_ordinary_stderr():
    sample = [0.1, 0.5, 0.7, 0.2]
    for clusters in ("abcd", ("", "", "", ""), ("a", "", "b", "")):
        row = row_of(list(zip(clusters, sample, strict=True)))
        assert row.stderr == pytest.approx(stats.sem(sample), rel=1e-12)
        assert row.clusters == 4
        assert row.intraclass_correlation is None


def test_shares_have_no_wilson_interval_with_clusters():
    assert row_of([("a", 1.0), ("b", 0.0)], "hit_rate").interval == "clusters"
    row = row_of([("a", 1.0), ("b", 1.0)], "hit_rate")
    assert row.note == "no cluster differs from another, so there is no interval"


def test_clusters_that_differ_only_by_rounding_have_no_interval():
    row = row_of([("a", 0.1), ("a", 0.2), ("b", 0.15), ("b", 0.15)])
    assert (row.ci_low, row.interval) == (None, None)
    assert row.note.startswith("no cluster differs")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_estimates_the_intraclass_correlation_of_the_population(share):
    generator = np.random.default_rng(7)
    queries = generator.normal(size=(2_000, 1)) * sqrt(share)
    found = queries + generator.normal(size=(2_000, 5)) * sqrt(1 - share)
    between = ClusterVariance.of((5, float(sample.sum())) for sample in found)
    assert between.intraclass_correlation(found.var(ddof=1)) == pytest.approx(share, abs=0.03)


def test_intraclass_correlation_by_analysis_of_variance():
    groups = [[1.0, 2.0, 4.0], [3.0, 5.0], [9.0]]
    flat = np.concatenate(groups)
    within = sum(((np.array(group) - np.mean(group)) ** 2).sum() for group in groups) / 3
    between = sum(len(group) * (np.mean(group) - flat.mean()) ** 2 for group in groups) / 2
    typical = (6 - (9 + 4 + 1) / 6) / 2
    expected = (between - within) / (between + (typical - 1) * within)
    found = ClusterVariance.of((len(group), sum(group)) for group in groups)
    assert found.intraclass_correlation(flat.var(ddof=1)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([[1, 3], [5, 9]], sqrt(5 / 4)),  # W = (2 + 8) / 2, as for 4 independent values
        ([[1, 3], [5, 9], [6]], sqrt(5 * 2) / 3),  # sum 1 / n = 1/2 + 1/2 + 1
        ([[1, 9], [4, 6]], sqrt(34 / 3 / 4)),  # W = 17 is more than the variance of all, 34 / 3
        ([[1], [5]], None),
        ([[1, 3]], None),
    ],
)
def test_stderr_within_by_hand(groups, expected):
    flat = np.concatenate(groups)
    found = ClusterVariance.of((len(group), float(sum(group))) for group in groups)
    assert found.stderr_within(flat.var(ddof=1)) == (expected and pytest.approx(expected))


def test_effective_clusters_by_hand():
    """Three values and one: 4^2 / (3^2 + 1); a conversation without the attribute counts, too."""
    row = row_of([("a", 1.0), ("a", 2.0), ("a", 3.0), ("", 4.0), ("b", None)])
    assert (row.clusters, row.effective_clusters) == (2, 1.6)
    assert row_of([("a", 1.0), ("b", 2.0)]).effective_clusters == 2
    assert row_of([("a", None)]).effective_clusters is None


@pytest.mark.parametrize(
    ("clusters", "effective", "few"),
    [
        (21, 2.2, True),
        (12, 9.5, True),
        (30, 17.4, False),
        (50, 10.0, False),
        (5, 5.0, False),  # few, but of the same size: Student's t accounts for that
        (9, 7.7, False),
        (9, 6.1, True),
        (0, None, False),
        (None, None, False),
    ],
)
def test_effective_clusters_are_few_only_if_clusters_differ_in_size(clusters, effective, few):
    assert are_few_effective(clusters, effective) is few


def values_of(seed, conversations=24):
    """Values of the conversations of a difficult trace; some lack the attribute."""
    random = Random(seed)
    scores = score(trace(random, conversations=conversations), metrics=RANKING, per_call=True)
    found = []
    for conversation_score in scores.values():
        attributes = {} if random.random() < 0.2 else {"query": str(random.randint(0, 5))}
        row = msgspec.structs.replace(
            conversation_score.conversation, attributes=attributes, rejected_records=0
        )
        conversation_score = msgspec.structs.replace(conversation_score, conversation=row)
        found.append(conversation_values(conversation_score, plan(RANKING, 3), "query"))
    return found


def serial(values):
    accumulator = MeansAccumulator()
    for value in values:
        accumulator.add(value)
    return accumulator


@pytest.mark.slow
@given(st.integers(0, 99), st.randoms(use_true_random=False))
@settings(max_examples=10)
def test_any_order_and_grouping_gives_the_same_bits(seed, order):
    values = values_of(seed)
    merged = copy_by_bytes(merge_randomly(values, order))
    wanted = plan(RANKING, 3)
    assert exact_rows(merged, wanted) == exact_rows(serial(values), wanted)


def test_rows_of_every_population_follow_the_definition():
    """Metrics, i and populations against the definition for the same values."""
    values = values_of(3, conversations=40)
    found = {
        (row.metric, row.i, row.population): row
        for row in serial(values).rows({}, plan(RANKING, 3))
    }
    searched = [value for value in values if value.n]
    assert len(searched) < len(values)
    at = [metric.name for metric in CONVERSATION_METRICS].index("CG")

    at_i = [metric.name for metric in GAINS.by_i].index("CG_at_i")
    srr_at_i = [metric.name for metric in GAINS.by_i].index("SRR_at_i")
    by_i = [values.by_i for values in searched]
    cases = {
        ("CG", None, "all"): [(values.cluster, values.at_n[at]) for values in searched],
        ("CG", None, "everyone"): [(value.cluster, value.at_n[at]) for value in values],
        ("hit_rate", None, "all"): [(values.cluster, values.at_n[-2]) for values in searched],
        ("CG_at_i", 2, "reached"): [
            (values.cluster, values.by_i[1][at_i]) for values in searched if values.n > 1
        ],
        ("CG_at_i", 3, "all"): [
            (values.cluster, rows[2][at_i]) for values, rows in zip(searched, by_i, strict=True)
        ],
        ("CG_at_i", 3, "everyone"): [
            *((values.cluster, rows[2][at_i]) for values, rows in zip(searched, by_i, strict=True)),
            *((value.cluster, 0) for value in values if not value.n),
        ],
        ("SRR_at_i", 3, "everyone"): [
            (values.cluster, rows[2][srr_at_i]) for values, rows in zip(searched, by_i, strict=True)
        ],
    }
    for key, conversations in cases.items():
        count, mean, stderr, low, high = by_definition(conversations)
        row = found[key]
        assert (row.clusters, row.mean) == (count, pytest.approx(mean)), key
        assert (row.stderr, row.ci_low, row.ci_high) == pytest.approx((stderr, low, high)), key


def test_search_calls_of_one_conversation_are_one_cluster():
    accumulator = MeansAccumulator()
    nothing = (None,) * len(CONVERSATION_METRICS)
    for cluster, calls in (("", (0.2, 0.4)), ("", (0.9,)), ("a", (0.5, 0.6)), ("a", (0.1,))):
        listed = [(call,) for call in calls]
        accumulator.add(ConversationValues(1, (*nothing, 1.0), [], calls=listed, cluster=cluster))
    (row,) = (row for row in accumulator.rows({}, plan(["rbp.8"], 0)) if row.population == "calls")
    groups = [("x", 0.2), ("x", 0.4), ("y", 0.9), ("a", 0.5), ("a", 0.6), ("a", 0.1)]
    count, _, stderr, _, _ = by_definition(groups)
    assert (row.n, row.clusters, row.stderr) == (6, count, pytest.approx(stderr))


def test_beyond_the_limit_of_clusters_there_is_no_interval(monkeypatch):
    monkeypatch.setattr(module, "MOST_CLUSTERS", 3)
    pairs = [(f"q{at}", at / 10) for at in range(4)]
    for order in (pairs, pairs[::-1]):
        one, other = accumulate(order[:2]), accumulate(order[2:])
        one.compact()
        other.compact()
        one.merge(other)
        (row,) = (row for row in one.rows({}, plan(["rbp.8"], 0)) if row.metric == "rbp.8")
        assert (row.mean, row.ci_low, row.clusters) == (pytest.approx(0.15), None, None)
        assert "more than" in row.note
    assert row_of(pairs[:3]).interval == "clusters"


def test_too_many_clusters_have_no_interval_after_merging_with_few(monkeypatch):
    monkeypatch.setattr(module, "MOST_CLUSTERS", 3)
    many = accumulate([(f"q{at}", at / 10) for at in range(4)])
    few = accumulate([("q0", 0.5), ("q1", 0.6)])
    many.compact()
    few.merge(many)
    (row,) = (row for row in few.rows({}, plan(["rbp.8"], 0)) if row.metric == "rbp.8")
    assert (row.ci_low, row.clusters) == (None, None)
    assert "more than" in row.note


floats = st.sampled_from([0.0, 0.1, 1e16, -1e16, 1e-16, 1 / 3, 5e-324]) | st.floats(-1e140, 1e140)


@given(st.lists(floats), st.randoms(use_true_random=False))
def test_parts_add_up_to_the_exact_sum_and_depend_only_on_it(listed, order):
    parts = sum_exactly(listed)
    assert sum(map(Fraction, parts)) == sum(map(Fraction, listed))
    magnitudes = [abs(part) for part in parts]
    assert magnitudes == sorted(magnitudes, reverse=True)
    assert 0.0 not in magnitudes
    order.shuffle(listed)
    cut = order.randint(0, len(listed))
    assert sum_exactly(sum_exactly(listed[:cut]) + sum_exactly(listed[cut:])) == parts


@pytest.mark.slow
def test_intervals_cover_means_of_repeats_only_with_clusters():
    """15 queries, 4 repeats each, two thirds of the variance between queries; the mean is 0.5."""
    generator = np.random.default_rng(600)
    queries = generator.normal(size=(400, 15, 1)) * sqrt(2 / 3)
    samples = 0.5 + queries + generator.normal(size=(400, 15, 4)) * sqrt(1 / 3)
    names = [f"q{query}" for query in range(15) for _ in range(4)]

    def covered(clusters):
        found = [
            row_of(list(zip(clusters, sample.ravel().tolist(), strict=True))) for sample in samples
        ]
        return np.mean([row.ci_low <= 0.5 <= row.ci_high for row in found])

    assert covered([None] * 60) < 0.8
    assert 0.93 <= covered(names) <= 0.97
