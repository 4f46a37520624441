"""Every metric of every peer equals ours, except where its definition is known to differ."""

from __future__ import annotations

import os
from itertools import groupby
from math import isnan

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
from goodgain.transforms.core.ranking.names import parse_ranking_metrics
from goodgain.transforms.core.ranking.ranked_list import UNJUDGED
from tests.conformity.judgments import CASES
from tests.conformity.peers import CUTOFFS, PEERS
from tests.conformity.tools import TOOLS, compiled_bpref, ours, values_of
from tests.conformity.topics import Topic, by_id, random_topics
from tests.core.ranking.agreement import agree

# Importing it takes seconds, and its bpref is compiled.
SLOW = {"ranx"}
# With all of ranx compiled, every tool evaluates all topics; otherwise the slow ones evaluate this
# many topics for each group of peers.
SLOW_TOPICS = None if os.environ.get("NUMBA_DISABLE_JIT") == "0" else 500
MOST_TOPICS = {
    "trec_eval": None,
    "ranx": SLOW_TOPICS,
    "ir_measures": SLOW_TOPICS,
    "scikit-learn": SLOW_TOPICS,
}
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


def group_key(peer):
    """Equal for peers of one tool that can evaluate the same topics in one call."""
    return peer.tool, peer.binary, tuple(difference.why for difference in peer.differences)


GROUPS = [list(group) for _, group in groupby(sorted(PEERS, key=group_key), key=group_key)]


def mismatches(group, candidates):
    """Every mismatch, and the number of compared topics.

    A mismatch is (topic, our name, our value, their spelling, their value).
    """
    comparable = [topic for topic in candidates if group[0].comparable(topic)]
    compared = comparable[: MOST_TOPICS[group[0].tool]]
    if not compared:
        return [], 0
    pairs = {pair: peer.tolerance for peer in group for pair in peer.pairs}
    own = ours(compared, sorted({name for name, _ in pairs}))
    passed = [group[0].theirs(topic) for topic in compared]
    theirs = values_of(group[0].tool, passed, sorted({spelling for _, spelling in pairs}))
    found = [
        (topic, name, mine[name], spelling, their[spelling])
        for topic, mine, their in zip(compared, own, theirs, strict=True)
        for (name, spelling), tolerance in pairs.items()
        if not agree(mine[name], their[spelling], abs=tolerance)
    ]
    return found, len(compared)


def check(tool, candidates):
    groups = [group for group in GROUPS if group[0].tool == tool]
    outcomes = [mismatches(group, candidates) for group in groups]
    assert [found for some, _ in outcomes for found in some] == []
    return [count for _, count in outcomes]


@pytest.mark.parametrize("tool", ["trec_eval", "ir_measures", "scikit-learn"])
def test_a_hundred_random_topics_equal_the_peer(tool):
    assert min(check(tool, random_topics(seed=1, count=100, longest=30))) > 0


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
def test_thousands_of_random_topics_equal_the_peer(tool):
    assert min(check(tool, random_topics(seed=2, count=3_000, longest=60))) >= 400


@pytest.fixture(scope="module")
def topics_of_hypothesis():
    """Collected for one call, since each call of ir_measures takes half a second."""
    collected = []

    @settings(max_examples=100, database=None, suppress_health_check=list(HealthCheck))
    @given(batch=st.lists(topics, min_size=15, max_size=40))
    def collect(batch):
        collected.extend(batch)

    collect()
    return list(dict.fromkeys(collected))


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
def test_topics_of_hypothesis_equal_the_peer(tool, topics_of_hypothesis):
    assert min(check(tool, topics_of_hypothesis)) > 0


def tool_for(tool, spelling):
    """The tool as its users run it; of ranx's metrics only bpref changes when compiled."""
    return compiled_bpref if tool == "ranx" and "bpref" in spelling else TOOLS[tool]


@pytest.mark.parametrize(("peer", "difference"), DIFFERENCES)
def test_a_difference_is_as_described(peer, difference):
    assert difference.applies(difference.example)
    name, spelling = peer.pairs[0 if "{k}" not in peer.metric else CUTOFFS.index(3)]
    (own,) = ours([difference.example], [name])
    assert agree(own[name], difference.ours, abs=5e-7)
    example = [peer.theirs(difference.example)]
    arguments = by_id(example, "qrels"), by_id(example, "run"), [spelling]
    if isinstance(difference.theirs, type):
        with pytest.raises(difference.theirs):
            tool_for(peer.tool, spelling)(*arguments)
        return
    (theirs,) = tool_for(peer.tool, spelling)(*arguments)
    assert same(theirs[spelling], difference.theirs)
    assert not agree(own[name], theirs[spelling], abs=1e-3)


def same(value, expected):
    return (isnan(value) and isnan(expected)) or agree(value, expected, abs=5e-7)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.tool}-{case.spelling}")
def test_a_difference_that_needs_documents_is_as_described(case):
    evaluator = RankingEvaluator(parse_ranking_metrics([case.metric]), 1)
    assert evaluator.evaluate(case.labels, case.pool) == (case.ours,)
    options = {"level": 1} if case.tool == "trec_eval" else {}
    values = tool_for(case.tool, case.spelling)
    qrels, run = {"1": case.qrels}, {"1": case.run}
    if case.beside is not None:
        (alone,) = values(qrels, run, [case.spelling], **options)
        assert same(alone[case.spelling], case.ours)
        qrels, run = {"0": case.beside[0], **qrels}, {"0": case.beside[1], **run}
    *_, theirs = values(qrels, run, [case.spelling], **options)
    assert same(theirs[case.spelling], case.theirs)
    assert not agree(case.ours, theirs[case.spelling], abs=1e-3)
