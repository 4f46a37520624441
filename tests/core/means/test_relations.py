"""Which metrics go with an outcome: by hand, by definition, in any grouping, and when cut short."""

from itertools import product
from math import fsum
from random import Random

import pytest
from sklearn.metrics import roc_auc_score

from goodgain.transforms.core.means import relations as module
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import ConversationValues
from goodgain.transforms.core.metrics.outcomes import TurnOutcome
from tests.core.averaging import merge
from tests.core.direct import plan

PLAN = plan([], 0, groups=(TurnOutcome("correct").group, TurnOutcome("rating").group))
NAMES = PLAN.columns.split(" ")
CG, GR = NAMES.index("CG"), NAMES.index("GR")


def conversation(gain, correct, rating=None, good=0, n=1, cluster=None):
    values = [None] * len(NAMES)
    values[CG], values[GR], values[-2], values[-1] = gain, good, correct, rating
    return ConversationValues(n, tuple(values), [], outcomes=PLAN.outcomes, cluster=cluster)


def rows_of(conversations, parts=1):
    return merge(conversations, parts).relations({}, PLAN)


def row_of(conversations, metric="CG", population="all", outcome="outcome.correct"):
    (row,) = (
        row
        for row in rows_of(conversations)
        if (row.outcome, row.metric, row.population) == (outcome, metric, population)
    )
    return row


def test_by_hand():
    # Right: gains 5, 3 and 1; wrong: 3 and 0. See the test of AUC for its numbers.
    row = row_of(
        [conversation(gain, 1) for gain in (5, 3, 1)]
        + [conversation(gain, 0) for gain in (3, 0)]
        + [conversation(2, None), conversation(None, 1)]  # one of the two is unknown
    )
    assert (row.n, row.n_one, row.n_zero) == (5, 3, 2)
    assert (row.mean_one, row.mean_zero) == (3.0, 1.5)
    assert (row.positive_one, row.positive_zero) == (3, 1)
    assert row.auc == 0.75
    assert row.stderr == pytest.approx(0.288675, abs=1e-6)
    assert (row.ci_low, row.ci_high) == pytest.approx((0.127979, 0.983955), abs=1e-6)
    assert row.note is None


def test_clusters_by_hand():
    row = row_of(
        [
            conversation(5, 1, cluster="a"),
            conversation(3, 1, cluster="b"),
            conversation(1, 1, cluster="b"),
            conversation(3, 0, cluster="a"),
            conversation(0, 0, cluster="b"),
        ]
    )
    assert (row.auc, row.clusters) == (0.75, 2)
    assert row.stderr == pytest.approx(1 / 12)


def test_conversations_without_a_cluster_are_clusters_of_their_own():
    alone = [
        conversation(gain, correct, cluster="")
        for gain, correct in ((5, 1), (3, 1), (1, 1), (3, 0), (0, 0))
    ]
    row = row_of(alone)
    assert row.clusters == 5
    assert row.stderr == pytest.approx(0.288675, abs=1e-6)


def test_one_class_and_graded_outcomes():
    row = row_of([conversation(5, 1), conversation(3, 1)])
    assert (row.n, row.auc, row.ci_low) == (2, None, None)
    assert row.note == "every conversation has the same outcome"
    graded = rows_of([conversation(5, 1, 0.5), conversation(3, 0, 1)])
    assert {row.outcome for row in graded} == {"outcome.correct"}
    binary = rows_of([conversation(5, 1, 0), conversation(3, 0, 1)])
    assert {row.outcome for row in binary} == {"outcome.correct", "outcome.rating"}
    related = [(row.outcome, row.metric) for row in binary if row.metric.startswith("outcome.")]
    assert related == [("outcome.correct", "outcome.rating"), ("outcome.rating", "outcome.correct")]


def test_conversations_without_search_are_in_everyone():
    conversations = [conversation(5, 1), conversation(3, 0), conversation(0, 1, n=0)]
    assert row_of(conversations).n == 2
    everyone = row_of(conversations, population="everyone")
    assert (everyone.n, everyone.n_one, everyone.auc) == (3, 2, 0.5)
    assert {row.population for row in rows_of(conversations[:2])} == {"all"}


def drawn(seed, size, clusters=False):
    random = Random(seed)
    for _ in range(size):
        correct = random.choice([0, 1, None])
        gain = random.choice([None, *range(6), random.random()])
        cluster = random.choice(["", "a", "b", "c"]) if clusters else None
        n = random.choice([0, 1, 1, 1])
        yield conversation(gain, correct, random.random(), random.randrange(3), n, cluster)


@pytest.mark.parametrize("seed", range(5))
def test_by_definition(seed):
    conversations = list(drawn(seed, 60))
    pairs = [
        (conversation.at_n[CG], conversation.at_n[-2])
        for conversation in conversations
        if conversation.n and None not in (conversation.at_n[CG], conversation.at_n[-2])
    ]
    ones, zeros = ([gain for gain, right in pairs if right == class_] for class_ in (1, 0))
    row = row_of(conversations)
    assert (row.n_one, row.n_zero) == (len(ones), len(zeros))
    assert row.mean_one == pytest.approx(fsum(ones) / len(ones))
    assert row.positive_zero == sum(gain > 0 for gain in zeros)
    wins = [(x > y) + (x == y) / 2 for x, y in product(ones, zeros)]
    assert row.auc == pytest.approx(fsum(wins) / len(wins))
    assert row.auc == pytest.approx(roc_auc_score([r for _, r in pairs], [g for g, _ in pairs]))


@pytest.mark.parametrize("clusters", [False, True])
@pytest.mark.parametrize("most", [20_000, 30])
def test_order_and_grouping_change_no_bit(monkeypatch, clusters, most):
    monkeypatch.setattr(module, "MOST_CONVERSATIONS", most)
    conversations = list(drawn(1, 100, clusters))
    expected = rows_of(conversations)
    assert expected
    for seed in range(4):
        shuffled = list(conversations)
        Random(seed).shuffle(shuffled)
        assert rows_of(shuffled, parts=1 + seed * 4) == expected


def test_too_many_conversations_are_summed(monkeypatch):
    conversations = list(drawn(2, 100))
    exact = rows_of(conversations)
    clustered = rows_of(list(drawn(2, 100, clusters=True)))
    monkeypatch.setattr(module, "MOST_CONVERSATIONS", 30)
    assert rows_of(conversations) == exact  # few values are still exact
    for row in rows_of(list(drawn(2, 100, clusters=True))):
        (same,) = (
            relation
            for relation in clustered
            if (relation.outcome, relation.metric, relation.population)
            == (row.outcome, row.metric, row.population)
        )
        assert (row.n, row.mean_one) == (same.n, same.mean_one)
        if row.metric == "outcome.rating":  # of many values, whose shares round by cluster
            assert row.auc == pytest.approx(same.auc, rel=1e-12)
        else:
            assert row.auc == same.auc
        assert row.ci_low is None
        if row.auc is not None:
            assert row.note.startswith("there are more than")


def test_without_outcomes_nothing_is_kept():
    nothing = plan([], 0)
    sums = MeansAccumulator()
    sums.add(ConversationValues(1, (None,) * len(nothing.at_n), []))
    assert sums.relations({}, nothing) == []
    assert sums.related.rows == []
