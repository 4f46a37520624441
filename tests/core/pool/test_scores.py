"""Scores with a pool: against the reference, traps, and properties for any input (SPEC 9)."""

import math
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from goodgain.pipeline.results.rows import conversation_row, iteration_row
from goodgain.transforms.core.pool.agreement import label_spans
from goodgain.transforms.core.pool.document import Topic
from tests.core.direct import score as plain_score
from tests.core.direct import shipped_rules
from tests.core.pool.direct import build, score, topic_pool
from tests.core.pool.generated import runs
from tests.core.ranking.naive import evaluate
from tests.reference import pool as reference
from tests.reference.test_pool import TRAP_28_A, TRAP_28_B, call, doc

METRICS = ("recall", "ndcg@10", "map", "judged")
seeds = st.integers(min_value=0, max_value=2**32 - 1)


def same(ours, theirs):
    if isinstance(ours, float) and isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)
    return ours == theirs


def assert_equals_reference(records, pooled, run, max_candidates=256):
    """Compare every number of every conversation with the reference."""
    rules = shipped_rules(max_candidates)
    held = reference.build(pooled, "topic", max_candidates=max_candidates)
    scores = score(records, build(pooled, "topic", rules=rules), run, rules=rules, metrics=METRICS)
    counted = Counter()
    for conversation_id, ours in scores.items():
        own = [record for record in records if record["conversation_id"] == conversation_id]
        turn = reference.last_turn("x", own, "topic", max_candidates)
        theirs = reference.score(turn, held, run, max_candidates=max_candidates)
        assert len(ours.iterations) == len(theirs["iterations"])
        for mine, other in zip(ours.iterations, theirs["iterations"], strict=True):
            row = iteration_row(mine)
            assert not [name for name in other if not same(row[name], other[name])]
        row = conversation_row(ours.conversation)
        other = theirs["conversation"]
        assert not [name for name in other if not same(row[name], other[name])]
        if ours.iterations:
            expected = [evaluate(name, theirs["labels"], theirs["pool"]) for name in METRICS]
            assert all(map(same, (row[name] for name in METRICS), expected))
        for name, count in (
            ("outside", "outside"),
            ("outside_pool",) * 2,
            ("weak_documents", "weak"),
        ):
            assert ours.counts[f"pool.{name}"] == theirs[count]
        counted["half"] += row["half_of_pool_reached"] or 0
        counted["shares"] += bool(row["pool_recall"])
        counted["outside"] += theirs["outside_pool"]
    return counted


@pytest.mark.slow
def test_scores_equal_the_reference():
    counted = Counter()
    for seed in range(60):
        random = Random(seed)
        found = runs(random)
        name, records = random.choice(list(found.items()))
        others = {other: own for other, own in found.items() if other != name}
        counted += assert_equals_reference(records, found, random.choice([name, None, "B"]))
        counted += assert_equals_reference(records, others, random.choice([name, None]), 2)
    assert min(counted.values()) > 10
    assert len(counted) == 3


@pytest.mark.slow
@given(seed=seeds)
@settings(max_examples=20)
def test_any_score_equals_the_reference(seed):
    found = runs(Random(seed))
    for name, records in found.items():
        assert_equals_reference(records, found, name)


@pytest.mark.slow
@given(seed=seeds, order=st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_properties_of_any_run(seed, order):
    """A pool changes no R, UR, Dup; shares rise to at most 1; pooled documents are not outside."""
    found = runs(Random(seed))
    built = build(found, "topic")
    for name, records in found.items():
        shuffled = list(records)
        order.shuffle(shuffled)
        scores = score(records, built, name)
        assert score(shuffled, built, name) == scores
        plain = plain_score(records, write_duplicates=False)
        for conversation_id, ours in scores.items():
            theirs = plain[conversation_id]
            assert ours.counts["pool.outside"] == ours.counts["pool.matched"] == 0
            for mine, other in zip(ours.iterations, theirs.iterations, strict=True):
                for column in ("R_i", "UR_i", "Dup_i", "R_at_i", "UR_at_i", "DupR_at_i"):
                    assert getattr(mine, column) == getattr(other, column)
                assert all(value is None or 0 <= value <= 1 for value in pool_values(mine))
            before = [0.0] * 3
            for row in ours.iterations:
                shares = pool_values(row)
                if None not in shares:
                    assert all(share >= other for share, other in zip(shares, before, strict=True))
                    before = shares


def pool_values(row):
    """The values of the pool metrics of a row, in their order."""
    return [value for name, value in row.metrics.items() if "pool" in name]


def only(scores):
    ((_, one),) = scores.items()
    return one


def test_metric_trap_26():
    everything = [call(doc("d1", 3), doc("d2", 2), doc("d3", 0))]
    run = [call(doc("d1", 3)), call(doc("d3", 0), iteration=2)]
    scored = only(score(run, build({"A": run, "B": everything}), "A", metrics=("recall",)))
    assert pool_values(scored.iterations[1]) == [0.5, 0.6, pytest.approx(3 / 5)]
    assert scored.conversation["recall"] == 0.5
    assert pool_values(scored.conversation) == [0.5, 0.6, pytest.approx(0.6), 1, 1]
    assert scored.conversation.topic == {"pool_good": 2, "pool_best": 3, "pool_found": "1"}
    assert only(plain_score(run, metrics=("recall",))).conversation["recall"] == 1.0


@pytest.mark.parametrize("order", [("A", "B"), ("B", "A")])
def test_metric_trap_28_in_any_order_of_runs(order):
    found = {"A": TRAP_28_A, "B": TRAP_28_B}
    built = build({name: found[name] for name in order})
    of_a, of_b = (only(score(found[name], built, name)) for name in ("A", "B"))
    assert (of_a.conversation.UR, of_a.conversation.CG) == (2, 5)
    assert of_b.conversation.pool_recall == 0.5
    (documents,) = [topic_pool.documents for topic_pool in built.values()]
    assert [document.label() for document in documents] == [3, 2]


def test_a_worked_example():
    """Two agents on one question; four of five documents are good: GP = 4 + 3 + 2 + 2.

    Agent A finds d1 (4) at i = 1 and d3 (2) at i = 3; agent B finds d2 (3), d4 (2) and d5 (1). So A
    has half of the good documents at i = 3 and 6 of 11 gain; discounted, it has
    (4 + 2 / log2(4)) / 11 = 5 / 11.
    """
    a = [
        call(doc("d1", 4)),
        call(doc("d1", 4), iteration=2),
        call(doc("d3", 2), iteration=3),
    ]
    b = [call(doc("d2", 3), doc("d4", 2), doc("d5", 1), conversation_id="other")]
    for record in (*a, *b):
        record["attributes"] = {"question": "q"}
    built = build({"A": a, "B": b}, "question")
    scored = only(score(a, built, "A", topic="question", metrics=("recall", "ndcg")))
    assert [row.pool_recall_at_i for row in scored.iterations] == [0.25, 0.25, 0.5]
    assert [row.pool_nCG_at_i for row in scored.iterations] == pytest.approx(
        [4 / 11, 4 / 11, 6 / 11]
    )
    assert scored.iterations[-1].pool_nDCG_at_i == pytest.approx(5 / 11)
    assert scored.conversation.iterations_for_half_of_pool == 3
    assert scored.conversation["recall"] == 0.5
    ideal = 4 + 3 / math.log2(3) + 2 / 2 + 2 / math.log2(5) + 1 / math.log2(6)
    assert scored.conversation["ndcg"] == pytest.approx((4 + 2 / math.log2(3)) / ideal)


def test_without_a_good_document_the_shares_are_null():
    run = [call(doc("d1", 1))]
    scored = only(score(run, build({"A": run}), "A"))
    assert pool_values(scored.conversation) == [None] * 5
    assert scored.conversation.topic == {"pool_good": 0, "pool_best": 1, "pool_found": ""}
    assert scored.counts["pool.conversations_without_good_documents"] == 1


def test_a_topic_without_a_pool_has_null_shares():
    pooled = [call(doc("d1", 3), attributes={"topic": "q"})]
    scored = only(score([call(doc("d1", 3))], build({"A": pooled}, "topic")))
    assert pool_values(scored.conversation) == [None] * 5
    assert scored.conversation.topic == {"pool_good": 0, "pool_best": None, "pool_found": ""}
    assert scored.conversation.CG == 3
    assert scored.counts["pool.conversations_without_pool"] == 1
    assert scored.counts["pool.outside_pool"] == 1


def test_labels_of_annotators_override_votes():
    run = [call(doc("d1", 3))]
    (built,) = build({"A": run}).values()
    (document,) = built.documents
    given = replace(document, given={"ann": 1, "bob": 0})
    assert topic_pool([given]).labels == (0,)
    assert topic_pool([given], preferred="ann").labels == (1,)
    assert topic_pool([given], preferred="eve").labels == (0,)


@pytest.mark.parametrize(("copy", "conflicts"), [(3, 0), (1, 1), (None, 0)])
def test_a_pool_changes_no_label_conflicts(copy, conflicts):
    """They are of the trace: with what the first occurrence says, not the pool (SPEC 5)."""
    run = [call(doc("d1", 3)), call(doc("d1", copy), iteration=2)]
    (built,) = build(
        {"A": [call(doc("d1", 1), conversation_id=run[0]["conversation_id"])]}
    ).values()
    assert [document.label() for document in built.documents] == [1]
    for scored, gain in ((only(score(run, {built.topic: built})), 0), (only(plain_score(run)), 3)):
        assert (scored.conversation.CG, scored.conversation.label_conflicts) == (gain, conflicts)
        assert scored.counts["results.labelled_duplicates"] == (copy is not None)


def test_topics_of_attributes_and_of_conversations_are_distinct():
    assert Topic("c").key != Topic(None, "c").key


def test_label_spans_mark_ids_whose_votes_are_far_apart():
    """Ordinals as ids: the second result of each list has id `2`, though documents differ."""
    a = [call(doc("1", 4), doc("2", 0))]
    b = [call(doc("1", 4), doc("2", 3))]
    (built,) = build({"A": a, "B": b}).values()
    assert [list(label_spans(document)) for document in built.documents] == [
        [("doc_id", False)],
        [("doc_id", True)],
    ]
