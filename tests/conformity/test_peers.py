"""Every metric of every peer: equal where the definitions agree, different where they part."""

from __future__ import annotations

from itertools import groupby
from math import isnan

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.ranking import UNJUDGED, RankingEvaluator, parse_ranking_metrics
from tests.conformity.judgments import CASES
from tests.conformity.peers import CUTOFFS, PEERS
from tests.conformity.tools import TOOLS, ours, values_of
from tests.conformity.topics import Topic, random_topics
from tests.core.ranking.agreement import agree

# ranx compiles itself, which takes a minute or two where its cache is cold.
SLOW = {"ranx"}
DIFFERENCES = [
    pytest.param(
        peer,
        difference,
        id=f"{peer.tool}-{peer.spelling}-{number}",
        marks=[pytest.mark.slow] * (peer.tool in SLOW),
    )
    for peer in PEERS
    for number, difference in enumerate(peer.differences)
]

gains = st.sampled_from([0, 0, 1, 2, 3, 4])
topics = st.builds(
    lambda labels, rest: Topic(tuple(labels), tuple(rest)),
    st.lists(st.one_of(gains, st.just(UNJUDGED)), min_size=1, max_size=14),
    st.lists(gains, min_size=1, max_size=5),
)


def alike(peer):
    """Peers of one tool that can be asked for the same topics in one call."""
    return peer.tool, peer.binary, tuple(difference.why for difference in peer.differences)


GROUPS = [list(group) for _, group in groupby(sorted(PEERS, key=alike), key=alike)]


def mismatches(group, candidates):
    """(topic, our name, our value, their spelling, their value) of every mismatch, and how many
    values were compared."""
    compared = [topic for topic in candidates if group[0].comparable(topic)]
    if not compared:
        return [], 0
    pairs = {pair: peer.tolerance for peer in group for pair in peer.pairs}
    own = ours(compared, sorted({name for name, _ in pairs}))
    handed_over = [group[0].theirs(topic) for topic in compared]
    theirs = values_of(group[0].tool, handed_over, sorted({spelling for _, spelling in pairs}))
    found = [
        (topic, name, mine[name], spelling, their[spelling])
        for topic, mine, their in zip(compared, own, theirs, strict=True)
        for (name, spelling), tolerance in pairs.items()
        if not agree(mine[name], their[spelling], abs=tolerance)
    ]
    return found, len(compared) * len(pairs)


def check(tool, candidates):
    groups = [group for group in GROUPS if group[0].tool == tool]
    outcomes = [mismatches(group, candidates) for group in groups]
    assert [found for some, _ in outcomes for found in some] == []
    return [count for _, count in outcomes]


@pytest.mark.parametrize("tool", ["trec_eval", "ir_measures", "scikit-learn"])
def test_a_hundred_topics(tool):
    assert min(check(tool, random_topics(seed=1, count=100, longest=30))) > 0


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
def test_thousands_of_topics(tool):
    assert min(check(tool, random_topics(seed=2, count=3_000, longest=60))) >= 400


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(batch=st.lists(topics, min_size=15, max_size=40))
def test_topics_that_hypothesis_thinks_of(tool, batch):
    check(tool, batch)


@pytest.mark.parametrize(("peer", "difference"), DIFFERENCES)
def test_difference(peer, difference):
    assert difference.applies(difference.example)
    name, spelling = peer.pairs[0 if "{k}" not in peer.metric else CUTOFFS.index(3)]
    (own,) = ours([difference.example], [name])
    assert agree(own[name], difference.ours, abs=5e-7)
    example = [peer.theirs(difference.example)]
    if isinstance(difference.theirs, type):
        with pytest.raises(difference.theirs):
            values_of(peer.tool, example, [spelling])
        return
    (theirs,) = values_of(peer.tool, example, [spelling])
    assert same(theirs[spelling], difference.theirs)
    assert not agree(own[name], theirs[spelling], abs=1e-3)


def same(value, expected):
    return (isnan(value) and isnan(expected)) or agree(value, expected, abs=5e-7)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.tool}-{case.spelling}")
def test_difference_between_documents(case):
    evaluator = RankingEvaluator(parse_ranking_metrics([case.metric]), 1)
    assert evaluator.evaluate(case.labels, case.pool) == (case.ours,)
    arguments = {"level": 1} if case.tool == "trec_eval" else {}
    qrels, run = {"1": case.qrels}, {"1": case.run}
    if case.beside is not None:
        (alone,) = TOOLS[case.tool](qrels, run, [case.spelling], **arguments)
        assert same(alone[case.spelling], case.ours)
        qrels, run = {"0": case.beside[0], **qrels}, {"0": case.beside[1], **run}
    *_, theirs = TOOLS[case.tool](qrels, run, [case.spelling], **arguments)
    assert same(theirs[case.spelling], case.theirs)
    assert not agree(case.ours, theirs[case.spelling], abs=1e-3)
