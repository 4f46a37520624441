"""Shares of repeats that pass: by hand, by enumeration of subsets, in any grouping, coverage."""

from fractions import Fraction
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.means import clusters as clusters_module
from goodgain.transforms.core.means.repeats import default_ks, repeats_estimates
from goodgain.transforms.core.means.values import ConversationValues
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.repeats import (
    ALL,
    AT,
    FLIP,
    PassCondition,
    Repeats,
    parse_condition,
    parse_repeats,
)
from tests.core.averaging import merge
from tests.core.direct import plan

GAINED = PassCondition("CG", ">=", 5)
TRAP = {(3, 1): 1, (3, 3): 1, (2, 0): 1, (1, 1): 1}  # METRIC_TRAPS 33


def estimates(passed, ks=()):
    found = repeats_estimates(GAINED, ks, passed)
    return {repeats.name: estimate for repeats, estimate in found}


def test_by_hand():
    # Of the clusters with 2 repeats or more: 1 of 3 passes in pairs 2/3 at least once, never
    # twice; 3 of 3 always; 0 of 2 never. One of the three has both passes and failures.
    found = estimates(TRAP, [2])
    assert found["pass@2[CG >= 5]"].mean == pytest.approx(5 / 9)
    assert found["pass^2[CG >= 5]"].mean == pytest.approx(1 / 3)
    assert found["flip_rate[CG >= 5]"].mean == pytest.approx(1 / 3)
    for row in found.values():
        assert (row.n, row.clusters, row.undefined) == (3, 3, 1)
    assert found["pass@2[CG >= 5]"].interval == "student"
    assert found["pass^2[CG >= 5]"].interval == found["flip_rate[CG >= 5]"].interval == "wilson"


def test_default_repeats_are_one_and_the_median_size():
    assert default_ks(TRAP) == [1, 2]
    assert list(estimates(TRAP)) == [
        "pass@1[CG >= 5]",
        "pass^1[CG >= 5]",
        "pass@2[CG >= 5]",
        "pass^2[CG >= 5]",
        "flip_rate[CG >= 5]",
    ]
    assert default_ks({(1, 0): 4}) == default_ks({}) == [1]


def test_no_cluster_is_large_enough():
    found = estimates({(1, 1): 2}, [3])["pass@3[CG >= 5]"]
    assert (found.n, found.undefined, found.mean, found.clusters) == (0, 2, None, 0)
    assert found.note == "no cluster has enough repeats"


@given(st.lists(st.booleans(), max_size=7), st.integers(1, 7))
def test_equals_enumeration_of_subsets(repeats, k):
    n, passed = len(repeats), sum(repeats)
    subsets = list(combinations(repeats, k))
    at, of_all = Repeats(AT, k, GAINED).value(n, passed), Repeats(ALL, k, GAINED).value(n, passed)
    if not subsets:
        assert at is of_all is None
    else:
        assert at == float(Fraction(sum(map(any, subsets)), len(subsets)))
        assert of_all == float(Fraction(sum(map(all, subsets)), len(subsets)))
    flipped = Repeats(FLIP, None, GAINED).value(n, passed)
    assert flipped == (None if n < 2 else float(len(set(repeats)) == 2))


PLAN = plan([], 0, conditions=(GAINED,), pass_k=(2,))
CG = PLAN.columns.split(" ").index("CG")


def conversation(cluster, gain, n=1):
    values = [None] * len(PLAN.at_n)
    values[CG] = gain
    passes = [GAINED.passes(gain)]
    return ConversationValues(n, tuple(values), [], cluster=cluster, passes=passes)


def rows_of(conversations, parts=1):
    rows = merge(conversations, parts).rows({}, PLAN)
    return {(row.metric, row.population): row for row in rows if "[" in row.metric}


def repeat(trap=TRAP):
    for number, (n, passed) in enumerate(trap):
        for at in range(n):
            yield conversation("" if n == 1 else str(number), 7 if at < passed else 4)


def test_over_conversations():
    rows = rows_of([*repeat(), conversation("0", None)])  # unknown gain: no repeat of it
    assert rows["pass@2[CG >= 5]", "all"].mean == pytest.approx(5 / 9)
    assert rows["pass^2[CG >= 5]", "all"].mean == pytest.approx(1 / 3)
    assert rows["flip_rate[CG >= 5]", "all"].undefined == 1
    assert {population for _, population in rows} == {"all"}


def test_conversations_without_search_fail_in_everyone():
    rows = rows_of([*repeat(), conversation("1", 0, n=0)])
    assert rows["pass^2[CG >= 5]", "all"].mean == pytest.approx(1 / 3)
    # 3 of 4 pass: half of the pairs of two.
    assert rows["pass^2[CG >= 5]", "everyone"].mean == pytest.approx((0 + 1 / 2 + 0) / 3)


@pytest.mark.parametrize("seed", range(3))
def test_order_and_grouping_change_no_bit(seed):
    random = Random(seed)
    drawn = [
        conversation(random.choice(["", "a", "b", "c"]), random.choice([None, 3, 5, 8]), n)
        for n in random.choices([0, 1], [1, 4], k=60)
    ]
    expected = rows_of(drawn)
    random.shuffle(drawn)
    assert rows_of(drawn, parts=7) == expected


def test_too_many_clusters(monkeypatch):
    monkeypatch.setattr(clusters_module, "MOST_CLUSTERS", 2)
    row = rows_of(repeat())["pass@2[CG >= 5]", "all"]
    assert (row.n, row.mean) == (0, None)
    assert "clusters" in row.note


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("CG >= 5", "CG >= 5"),
        ("CG>=5.0", "CG >= 5"),
        ("ndcg@10 > 0.25", "ndcg@10 > 0.25"),
        ("outcome.correct >= 1", "outcome.correct >= 1"),
        ("SRR < 1e-1", "SRR < 0.1"),
    ],
)
def test_conditions(text, canonical):
    condition = parse_condition(text)
    assert str(condition) == canonical
    assert parse_condition(canonical) == condition
    for kind, k in ((AT, 3), (ALL, 10), (FLIP, None)):
        repeats = Repeats(kind, k, condition)
        assert parse_repeats(repeats.name) == repeats


@pytest.mark.parametrize(
    "text", ["", "CG", "CG >= ", ">= 5", "CG = 5", "CG >= nan", "CG >= x", "1"]
)
def test_what_is_no_condition(text):
    with pytest.raises(UsageError, match="is not a condition"):
        parse_condition(text)


@pytest.mark.parametrize(
    "name",
    ["pass@[CG >= 5]", "pass@0[CG >= 5]", "flip_rate3[CG >= 5]", "pass^2[CG]", "pass@2", "CG"],
)
def test_what_is_no_mean_of_repeats(name):
    assert parse_repeats(name) is None


def test_condition_on_an_unknown_metric():
    with pytest.raises(UsageError, match=r"CGG, which is no metric at N .*did you mean CG\?"):
        plan([], 0, conditions=(PassCondition("CGG", ">=", 1),))


@pytest.mark.parametrize("bound", [20, -1])
def test_condition_that_no_share_or_every_one_meets(bound):
    with pytest.raises(UsageError, match=r"\(--pass\) is on a share, .*20 % is written 0\.2"):
        plan([], 0, conditions=(PassCondition("SRE", ">=", bound),))


def test_declarations():
    of_gain, of_cost = metric_by_name("pass^3[CG >= 5]"), metric_by_name("flip_rate[cost.usd < 1]")
    assert (of_gain.direction, of_cost.direction) == ("higher", "lower")
    assert (of_gain.needs_labels, of_cost.needs_labels) == (True, False)
    assert of_gain.formula == "mean over clusters of C(c, 3) / C(n, 3); c of n conversations pass"


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "k"), [(AT, 1), (AT, 2), (ALL, 2)])
def test_intervals_cover(kind, k):
    # Queries of 4 runs, whose probability to pass is uniform.
    random = np.random.default_rng(33)
    expected = {(AT, 1): 1 / 2, (AT, 2): 2 / 3, (ALL, 2): 1 / 3}[kind, k]
    passed = random.binomial(4, random.random((2_000, 60)))
    covered = 0
    for run in passed:
        counts = {(4, c): count for c, count in enumerate(np.bincount(run, minlength=5).tolist())}
        row = estimates(counts, [k])[Repeats(kind, k, GAINED).name]
        covered += row.ci_low <= expected <= row.ci_high
    assert 0.93 <= covered / len(passed) <= 0.97
