"""Removing duplicates in order: candidates, registered keys, caps and repeats (SPEC 4.2)."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.dedup import duplicates as deduplication
from goodgain.transforms.core.dedup.duplicates import Deduplicator
from tests.adversarial import ResultSource
from tests.core.direct import call_fingerprint, score_one, shipped_rules
from tests.reference.evidence import evidence_of
from tests.reference.occurrences import Occurrence, Tallies, mark_duplicates


def fold(results, max_candidates=256):
    """(first, step, clause) of each result, None for a first occurrence; and the deduplicator."""
    deduplicator = Deduplicator(shipped_rules(max_candidates))
    found = [deduplicator.add(result) for result in call_fingerprint(results).results]
    row = score_one([{"results": results}], shipped_rules(max_candidates)).conversation
    assert row.DupR == len(found) - found.count(None)
    return [
        duplicate and (duplicate.first, duplicate.verdict.step.value, duplicate.verdict.clause)
        for duplicate in found
    ], deduplicator


def fold_as_reference(results, max_candidates=256):
    tallies = Tallies()
    occurrences = [
        Occurrence(1, 1, 0, place, None, evidence_of(result))
        for place, result in enumerate(results)
    ]
    mark_duplicates(occurrences, max_candidates, tallies)
    decisions = [
        None
        if occurrence.is_first()
        else (occurrence.first.rank, occurrence.verdict.step, occurrence.verdict.clause)
        for occurrence in occurrences
    ]
    return decisions, tallies


def assert_equals_reference(results, max_candidates):
    decisions, deduplicator = fold(results, max_candidates)
    expected, tallies = fold_as_reference(results, max_candidates)
    assert decisions == expected
    misses = {step.value: pairs for step, pairs in deduplicator.near_misses.items()}
    assert misses == dict(tallies.near_misses)
    assert deduplicator.cut == tallies.candidates_cut


def test_a_result_that_matches_only_a_duplicate_is_the_same_document():
    decisions, _ = fold(
        [
            {"ids": {"doc_id": "a"}},
            {"ids": {"doc_id": "a"}, "url": "http://x/a"},
            {"url": "http://x/a"},
        ]
    )
    assert decisions == [None, (0, "ids", None), (0, "url", None)]


def test_the_first_candidate_that_verifies_wins():
    decisions, deduplicator = fold(
        [
            {"url": "http://x/a?v=1"},
            {"url": "http://x/a?v=2"},
            {"url": "http://x/a?v=2", "ids": {"odd": "1"}},
        ]
    )
    assert decisions == [None, None, (1, "url", None)]
    assert deduplicator.near_misses == {"url_identity": 2}


def test_equal_evidence_of_one_attribute_is_inconclusive():
    decisions, deduplicator = fold([{"title": "a"}] * 3)
    assert decisions == [None] * 3
    assert deduplicator.near_misses == {"inconclusive": 2}


def test_equal_evidence_of_two_attributes_needs_no_other_key():
    fields = {"author": "a", "department": "b"}
    decisions, _ = fold([{"entity_type": "File", "fields": fields}] * 3)
    assert decisions == [None, (0, "identical", None), (0, "identical", None)]


def test_results_without_evidence_are_never_duplicates():
    decisions, deduplicator = fold([{}, {"title": " "}, {"entity_type": "File"}] * 2)
    assert decisions == [None] * 6
    assert not deduplicator.near_misses


def test_candidates_beyond_max_candidates_are_cut_and_counted():
    different = [{"title": "t", "url": f"http://x/{number}"} for number in range(3)]
    results = [*different, {"title": "t", "url": "http://x/1"}, {"title": "t", "id": "new"}]
    decisions, deduplicator = fold(results, max_candidates=2)
    assert decisions == [None, None, None, (1, "url", None), None]
    assert deduplicator.cut == 2
    assert fold(results)[1].cut == 0


def test_spellings_of_an_id_share_one_key():
    results = [{"ids": {"odd": ["Doc", "doc"]}, "title": title} for title in ("a", "b", "c")]
    assert fold(results, max_candidates=1)[1].cut == 2
    assert_equals_reference(results, max_candidates=1)


def repetitive(seed):
    """Many repeats of few results, so that the memo of equal evidence decides."""
    random = Random(seed)
    source = ResultSource(random)
    kinds = [source.result() for _ in range(random.randint(1, 8))]
    return [random.choice(kinds) for _ in range(40)]


@pytest.mark.slow
@given(
    seed=st.integers(min_value=0, max_value=2**32),
    max_candidates=st.sampled_from([1, 2, 3, 256]),
)
@settings(max_examples=150)
def test_repeats_are_decided_as_by_the_full_search(seed, max_candidates):
    assert_equals_reference(repetitive(seed), max_candidates)


def test_repeats_do_not_verify_again(monkeypatch):
    """One result returned a thousand times costs only a thousand look-ups."""
    verified = []
    verify = deduplication.verify
    monkeypatch.setattr(
        deduplication, "verify", lambda *pair: verified.append(pair) or verify(*pair)
    )
    score_one([{"results": [{"ids": {"doc_id": "a"}}] * 1_000}])
    assert len(verified) == 1


KEYS = [
    ({"ids": {"z_id": "1", "doc_id": "1"}, "url": "http://x/a"}, "id:doc_id"),
    ({"id": "g", "title": "t", "url": "http://x/a"}, "id"),
    ({"url": "http://x/a", "title": "t", "snippet": "s" * 50}, "url"),
    ({"snippet": "s" * 50, "content": "s" * 50, "title": "t"}, "snippet"),
    ({"content": "s" * 50, "title": "t", "fields": {"subject": "a"}}, "content"),
    ({"title": "t", "fields": {"subject": "a"}}, "title"),
    ({"fields": {"subject": "a", "file_name": "b", "display_name": "c"}}, "subject"),
    ({"fields": {"file_name": "b", "display_name": "c"}}, "file_name"),
    ({"fields": {"display_name": "c", "start": "a", "end": "b"}}, "display_name"),
    ({"fields": {"start": "a", "end": "b", "author": "c"}}, "start+end"),
    ({"fields": {"author": "a", "department": "b"}}, "evidence"),
]


@pytest.mark.parametrize(("result", "key"), KEYS)
def test_the_first_key_in_the_order_of_the_spec_is_reported(result, key):
    (row,) = score_one([{"results": [result, result]}]).duplicates
    assert row.key == key
