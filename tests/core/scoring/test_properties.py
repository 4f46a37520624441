"""Properties that hold for any input: how changes to records affect the metrics."""

from copy import deepcopy
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from goodgain.pipeline.results.rows import conversation_row, iteration_row
from goodgain.transforms.core.dedup.evidence import read_evidence
from goodgain.transforms.core.scoring.delivery import deliver
from goodgain.transforms.core.scoring.fold import fold_turn
from tests.adversarial import trace
from tests.core.direct import fingerprints, plan, score, score_one, shipped_rules
from tests.reference.evidence import evidence_of
from tests.reference.verification import verify

seeds = st.integers(min_value=0, max_value=2**32 - 1)
thorough = settings(max_examples=40)
COUNTS = ["N", "calls", "R", "UR", "GR", "DupR", "CG"]


def adversarial(seed):
    return trace(Random(seed), conversations=2)


@given(seeds)
@thorough
def test_counts_add_up_and_gain_never_decreases(seed):
    for conversation_score in score(adversarial(seed)).values():
        gain_before = 0
        for row in conversation_score.iterations:
            assert row.UR_i + row.Dup_i == row.R_i
            assert row.UR_at_i + row.DupR_at_i == row.R_at_i
            assert row.GR_i <= row.UR_i
            assert row.CG_at_i >= gain_before
            gain_before = row.CG_at_i
            if row.R_at_i:
                assert row.SRR_at_i + row.UR_at_i / row.R_at_i == pytest.approx(1)
        if conversation_score.iterations:
            last = conversation_score.iterations[-1]
            row = conversation_score.conversation
            assert (last.CG_at_i, last.SRE_at_i, last.R_at_i) == (row.CG, row.SRE, row.R)


@given(seeds, st.randoms(use_true_random=False))
@thorough
def test_shuffled_records_give_identical_output(seed, order):
    records = adversarial(seed)
    scores = score(records)
    order.shuffle(records)
    assert score(records) == scores


def last_scored_calls(records):
    """For each conversation whose scored turn searched, its last search call."""
    searches = {name: deliver(calls).searches() for name, calls in fingerprints(records).items()}
    return {name: calls[-1] for name, calls in searches.items() if calls}


@pytest.mark.slow
@given(seeds)
@example(2638614)  # opens a document in a turn that did not search
@thorough
def test_an_unlabelled_new_document_lowers_sre_and_keeps_cg(seed):
    records = adversarial(seed)
    before = score(records)
    last_calls = last_scored_calls(records)
    added = [
        {
            "conversation_id": conversation_id,
            "turn": call.turn,
            "iteration": call.iteration,
            "call": 1_000,
            "record_id": "added",
            "results": [{"ids": {"doc_id": "matches nothing"}}],
        }
        for conversation_id, call in last_calls.items()
    ]
    after = score(records + added)
    for conversation_id in last_calls:
        old, new = before[conversation_id].conversation, after[conversation_id].conversation
        assert (new.CG, new.GR, new.DupR) == (old.CG, old.GR, old.DupR)
        assert (new.UR, new.R) == (old.UR + 1, old.R + 1)
        assert new.SRE < old.SRE or new.SRE == old.SRE == 0
        assert new.unlabelled == old.unlabelled + 1


@given(seeds)
@thorough
def test_equal_evidence_of_two_attributes_is_a_first_occurrence_only_once(seed):
    rules = shipped_rules()
    for calls in fingerprints(adversarial(seed)).values():
        outcome = deliver(calls)
        turn = fold_turn(
            [call for call in outcome.calls if call.turn == outcome.last_turn], rules, 2
        )
        first_occurrences = [
            result
            for result, duplicate in zip(turn.results, turn.duplicates, strict=True)
            if duplicate is None
        ]
        identifies_alone = [
            occurrence
            for occurrence in first_occurrences
            if read_evidence(occurrence).layout.identifies_alone
        ]
        first = [(result.codes, result.digests) for result in identifies_alone]
        assert len(first) == len(set(first))


@pytest.mark.slow
@given(seeds)
@thorough
def test_exact_copies_of_two_attributes_or_more_are_duplicates(seed):
    """Copies are chosen by the evidence of the reference, not by that of fingerprints."""
    for conversation_id, conversation_score in score(with_exact_copies(adversarial(seed))).items():
        assert conversation_score.conversation.UR * 2 == conversation_score.conversation.R, (
            conversation_id
        )


def with_exact_copies(records):
    """For each conversation, one call with a few distinct results, and the same call again."""
    by_conversation = {}
    for record in records:
        for result in record["results"] or []:
            kept = by_conversation.setdefault(record["conversation_id"], [])
            evidence = evidence_of(result)
            alike = any(verify(evidence_of(other), evidence).duplicate for other in kept)
            if evidence.attribute_count() >= 2 and not alike:
                kept.append(result)
    return [
        {"conversation_id": conversation_id, "iteration": iteration, "results": results}
        for conversation_id, results in by_conversation.items()
        for iteration in (1, 2)
    ]


def test_equal_ids_without_a_rule_are_one_document():
    again = score_one([{"results": [{"ids": {"chunk_id": "A"}, "gain": 4}] * 2}]).conversation
    assert (again.R, again.UR, again.DupR, again.CG) == (2, 1, 1, 4)


@st.composite
def definitive_conversations(draw):
    """Calls in which every result has a definitive id; copies have equal labels."""
    types = {"File": "file_id", "Event": "event_id", "EmailMessage": "email_url", None: "doc_id"}
    entity_type = draw(st.sampled_from(list(types)))
    labels = draw(st.lists(st.sampled_from([None, 0, 1, 2, 3, 4]), min_size=1, max_size=6))

    def result(document):
        return {
            "entity_type": entity_type,
            "ids": {types[entity_type]: f"Document-{document}"},
            "title": f"{'same title' if document % 2 else document}",
            "url": f"http://x/{document % 3}",
            "gain": labels[document],
        }

    documents = st.lists(st.integers(0, len(labels) - 1), max_size=6)
    lists = draw(st.lists(documents, min_size=1, max_size=5))
    return [
        {"iteration": number, "call": 0, "results": [result(document) for document in listed]}
        for number, listed in enumerate(lists, start=1)
    ]


@given(definitive_conversations(), st.randoms(use_true_random=False))
@thorough
def test_order_inside_a_call_does_not_matter_with_definitive_ids(records, order):
    permuted = deepcopy(records)
    for record in permuted:
        order.shuffle(record["results"])
    one, other = score_one(records), score_one(permuted)
    assert [counts_of(row) for row in other.iterations] == [
        counts_of(row) for row in one.iterations
    ]
    assert drop_ranking(other.conversation) == drop_ranking(one.conversation)


def counts_of(row):
    return {name: value for name, value in iteration_row(row).items() if isinstance(value, int)}


def drop_ranking(row):
    ranking = {metric.name for metric in plan().ranking}
    return {name: value for name, value in conversation_row(row).items() if name not in ranking}


@given(definitive_conversations())
@thorough
def test_a_copy_of_the_last_iteration_keeps_cg_and_raises_srr(records):
    again = {**deepcopy(records[-1]), "iteration": len(records) + 1}
    before, after = score_one(records).conversation, score_one([*records, again]).conversation
    copies = len(again["results"])
    assert (after.CG, after.GR, after.UR) == (before.CG, before.GR, before.UR)
    assert (after.N, after.R, after.DupR) == (
        before.N + 1,
        before.R + copies,
        before.DupR + copies,
    )
    # SRR was below 1, since the first result is never a duplicate.
    assert after.SRR > before.SRR if copies else after.SRR == before.SRR


@given(definitive_conversations())
@thorough
def test_documents_are_counted_by_their_ids(records):
    row = score_one(records).conversation
    shown = [
        (next(iter(result["ids"].values())), result["gain"] or 0)
        for record in records
        for result in record["results"]
    ]
    assert (len(shown), len(set(shown))) == (row.R, row.UR)
    assert sum(gain for _, gain in set(shown) if gain >= 2) == row.CG
