"""Pools of the core against the brute-force reference of SPEC 9, document by document."""

from collections import Counter
from operator import attrgetter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.direct import shipped_rules
from tests.core.pool.direct import build, contributions, fold_turns, topic_pool
from tests.core.pool.generated import runs
from tests.reference import pool as reference

pytestmark = pytest.mark.slow

PLACE = attrgetter("run", "conversation_id", "at", "turn", "iteration", "call", "record_id", "rank")
seeds = st.integers(min_value=0, max_value=2**32 - 1)


def by_reference(found, topic, max_candidates=256):
    return {
        key: [
            (
                sorted(
                    (run, conversation, number, *place)
                    for run, number, conversation, place, _ in document.places
                ),
                dict(document.votes),
                document.label,
                len(document.evidence),
            )
            for document in documents
        ]
        for key, documents in reference.build(found, topic, max_candidates=max_candidates).items()
        if documents
    }


def by_core(found, topic, max_candidates=256):
    return {
        (key.value, key.conversation_id): [
            (
                [PLACE(place) for place in document.places],
                {(vote.run, vote.conversation_id): vote.gain for vote in document.votes},
                document.label(),
                len(document.evidence),
            )
            for document in built.documents
        ]
        for key, built in build(found, topic, rules=shipped_rules(max_candidates)).items()
        if built.documents
    }


@pytest.mark.parametrize("max_candidates", [1, 2, 256])
def test_pools_equal_those_of_the_reference(max_candidates):
    shared = 0
    for seed in range(30):
        found = runs(Random(seed))
        topic = "topic" if seed % 3 else None
        ours = by_core(found, topic, max_candidates)
        assert ours == by_reference(found, topic, max_candidates), seed
        shared += sum(
            len({place[0] for place in document[0]}) > 1
            for own in ours.values()
            for document in own
        )
    assert shared > 20


@given(seed=seeds)
@settings(max_examples=15)
def test_any_pool_equals_the_reference(seed):
    found = runs(Random(seed))
    assert by_core(found, "topic") == by_reference(found, "topic")


@given(seed=seeds, order=st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_the_order_of_runs_and_records_changes_nothing(seed, order):
    found = runs(Random(seed))
    names = list(found)
    order.shuffle(names)
    shuffled = {name: list(found[name]) for name in names}
    for records in shuffled.values():
        order.shuffle(records)
    assert build(shuffled, "topic") == build(found, "topic")


@given(seed=seeds)
@settings(max_examples=15)
def test_distinct_documents_of_a_conversation_stay_distinct(seed):
    found = runs(Random(seed))
    documents = {
        (contribution.run, contribution.conversation_id): len(contribution.documents)
        for contribution in contributions(found, "topic")
    }
    pooled = Counter()
    for built in build(found, "topic").values():
        for document in built.documents:
            pooled.update({(place.run, place.conversation_id) for place in document.places})
        ids = [document.document for document in built.documents]
        assert len(set(ids)) == len(ids)
    assert pooled == {key: count for key, count in documents.items() if count}


def pools(pooled, max_candidates=256):
    """Pools of the reference and of the core, and the max_candidates of both."""
    theirs = reference.build(pooled, "topic", max_candidates=max_candidates)
    return theirs, build(pooled, "topic", rules=shipped_rules(max_candidates)), max_candidates


def assert_matches_equal_reference(scored, built, *run_names):
    """Match every conversation of a run with `pools`, under each run name, and compare.

    Returns the number of documents by outcome: already pooled from this run (True), matched by
    verification (False), or "outside".
    """
    theirs, ours, max_candidates = built
    rules = shipped_rules(max_candidates)
    outcomes = Counter()
    for conversation_id, (topic, turn) in fold_turns(scored, "topic", rules).items():
        records = [row for row in scored if row["conversation_id"] == conversation_id]
        other = reference.last_turn("x", records, "topic", max_candidates)
        held = reference.as_read(theirs.get(other.topic, []), max_candidates)
        own = ours.get(topic)
        pool = topic_pool(own.documents if own else (), rules)
        firsts = [place for place, duplicate in enumerate(turn.duplicates) if duplicate is None]
        for run_name in run_names:
            expected = [
                None if match is None else next(n for n, mine in enumerate(held) if mine is match)
                for match in reference.matches(held, other, run_name)
            ]
            found = pool.match(conversation_id, turn.calls, turn.duplicates, run_name)
            mine = [found.get(place) for place in firsts]
            assert [
                None if document is None else document.document for document in mine
            ] == expected
            outcomes.update(
                "outside" if document is None else document.verdict is None for document in mine
            )
    return outcomes


def test_matches_equal_those_of_the_reference():
    outcomes = Counter()
    for seed in range(30):
        random = Random(seed)
        found = runs(random)
        name, records = random.choice(list(found.items()))
        others = {other: own for other, own in found.items() if other != name}
        names = random.choice([name, None]), random.choice(["B", "A", None])
        outcomes += assert_matches_equal_reference(records, pools(found), *names)
        outcomes += assert_matches_equal_reference(
            records, pools(others, 2), random.choice([name, None])
        )
    assert min(outcomes.values()) > 20
    assert len(outcomes) == 3


@given(seed=seeds)
@settings(max_examples=15)
def test_all_documents_of_a_pooled_run_are_in_the_pool(seed):
    found = runs(Random(seed))
    built = pools(found)
    for name, records in found.items():
        outcomes = assert_matches_equal_reference(records, built, name)
        assert set(outcomes) <= {True}


def test_updates_equal_those_of_the_reference():
    """Documents of the updated pool come first, and keep their ids and order."""
    updated = 0
    for seed in range(40):
        found = runs(Random(seed))
        names = sorted(found)
        first, rest = {names[0]: found[names[0]]}, {name: found[name] for name in names[1:]}
        theirs = reference.build(rest, "topic", reference.build(first, "topic"))
        before = {key: topic_pool.documents for key, topic_pool in build(first, "topic").items()}
        after = build(rest, "topic", held=before)
        for key, built in after.items():
            places = [[PLACE(place) for place in document.places] for document in built.documents]
            other = theirs.get((key.value, key.conversation_id), [])
            assert places == [
                sorted(
                    (run, conversation, number, *place)
                    for run, number, conversation, place, _ in document.places
                )
                for document in other
            ]
            held = before.get(key, [])
            ids = [document.document for document in built.documents]
            assert ids[: len(held)] == [document.document for document in held]
            assert [document.number for document in built.documents] == list(range(1, len(ids) + 1))
            updated += len(ids) > len(held) > 0
    assert updated > 8


def test_replacing_a_run_by_itself_changes_nothing():
    """Even documents with little evidence keep their ids, and so their labels."""
    for seed in range(30):
        found = runs(Random(seed))
        before = {key: topic_pool.documents for key, topic_pool in build(found, "topic").items()}
        name = sorted(found)[0]
        replaced = {(name, record["conversation_id"]) for record in found[name]}
        after = build({name: found[name]}, "topic", held=before, replaced=replaced)
        assert {key: topic_pool.documents for key, topic_pool in after.items()} == before


def test_a_replaced_run_loses_its_earlier_places():
    for seed in range(30):
        found = runs(Random(seed))
        before = {key: topic_pool.documents for key, topic_pool in build(found, "topic").items()}
        name, other = sorted(found)[0], runs(Random(seed + 1_000))
        records = other[sorted(other)[0]]
        replaced = {(name, record["conversation_id"]) for record in (*found[name], *records)}
        after = build({name: records}, "topic", held=before, replaced=replaced)
        places = Counter()
        for key, built in after.items():
            ids = [document.document for document in before.get(key, [])]
            assert [document.document for document in built.documents][: len(ids)] == ids
            places.update(
                p.conversation_id for d in built.documents for p in d.places if p.run == name
            )
        expected = Counter(
            contribution.conversation_id
            for contribution in contributions({name: records}, "topic")
            for document in contribution.documents
            for _ in document
        )
        assert places == expected
