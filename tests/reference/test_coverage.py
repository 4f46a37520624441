"""Seeded adversarial traces reach every outcome of SPEC 4.3 and satisfy all invariants."""

from random import Random

import pytest

from tests.adversarial import trace
from tests.reference import evaluate
from tests.reference.outcomes import CLAUSES, NAMED_ID, REJECTIONS, STEPS

pytestmark = pytest.mark.slow

KEYS = ["id", "url", "snippet", "content", "title", "subject", "file_name", "display_name"]


@pytest.fixture(scope="module")
def records():
    return trace(Random(20240301), conversations=1200)


@pytest.fixture(scope="module")
def outcome(records):
    return evaluate(records)


@pytest.fixture(scope="module")
def some(records):
    """The records of some conversations, and their evaluation, for tests that do it again."""
    chosen = [record for record in records if record["conversation_id"].startswith("a")]
    return chosen, evaluate(chosen)


def test_every_type_step_and_clause_accepts(outcome):
    expected = {(rule, step, None) for rule in CLAUSES for step in STEPS}
    for rule, clauses in CLAUSES.items():
        expected |= {(rule, "fields", clause) for clause in range(1, clauses + 1)}
    assert set(outcome["counts"]["accepted"]) == expected | {NAMED_ID}


def test_every_step_rejects_in_every_type(outcome):
    expected = {(rule, step) for rule in CLAUSES for step in REJECTIONS}
    assert expected <= set(outcome["counts"]["near_misses_by_rule"])
    assert set(outcome["counts"]["near_misses"]) == {"type", *REJECTIONS}


def test_every_kind_of_key_finds_duplicates(outcome):
    kinds = {row["key"] for row in outcome["duplicates"]}
    assert {kind for kind in kinds if not kind.startswith("id:")} == {
        *KEYS,
        "start+end",
        "evidence",
    }
    assert any(kind.startswith("id:") for kind in kinds)


def test_every_kind_of_record_occurs(outcome):
    counts = outcome["counts"]
    kinds = ["scored", "earlier_turn", "redelivered"]
    assert all(counts[kind] > 0 for kind in [*kinds, "conflicting_redeliveries", "unlabelled"])
    assert counts["read"] == sum(counts[kind] for kind in kinds)
    rows = outcome["conversations"].values()
    assert any(row["N"] == 0 for row in rows)
    assert any(row["N"] > 0 and row["GR"] == 0 for row in rows)
    assert any(row["N"] > 1 and row["iterations_after_last_good"] > 0 for row in rows)
    assert any(row["N"] < row["iteration"] for row in number_rows(outcome))


def number_rows(outcome):
    """Iteration rows with the N of their conversation."""
    return [
        {**row, "N": outcome["conversations"][row["conversation_id"]]["N"]}
        for row in outcome["iterations"]
    ]


def test_arrival_order_does_not_matter(some):
    records, expected = some
    shuffled = list(records)
    Random(1).shuffle(shuffled)
    assert evaluate(shuffled) == expected
    assert evaluate(list(reversed(records))) == expected


def test_few_candidates_lose_duplicates_and_are_counted_as_cut(some):
    records, expected = some
    few = evaluate(records, max_candidates=1)
    assert few["counts"]["candidates_cut"] > 0
    assert few["counts"]["duplicates"] < expected["counts"]["duplicates"]


def test_counts_of_iterations_add_up(outcome):
    for row in outcome["iterations"]:
        assert row["UR_at_i"] + row["DupR_at_i"] == row["R_at_i"]
        assert row["GR_at_i"] <= row["UR_at_i"]
        if row["R_at_i"]:
            assert row["SRR_at_i"] + row["UR_at_i"] / row["R_at_i"] == pytest.approx(1)


def test_gain_never_decreases(outcome):
    by_conversation = {}
    for row in outcome["iterations"]:
        by_conversation.setdefault(row["conversation_id"], []).append(row["CG_at_i"])
    assert all(gains == sorted(gains) for gains in by_conversation.values())


def test_every_duplicate_refers_to_an_earlier_first_occurrence(outcome):
    places = ["conversation_id", "i", "call_position", "rank"]
    duplicates = {tuple(row[name] for name in places) for row in outcome["duplicates"]}
    for row in outcome["duplicates"]:
        own = (row["i"], row["call_position"], row["rank"])
        first = (row["first_i"], row["first_call_position"], row["first_rank"])
        assert first < own
        assert (row["conversation_id"], *first) not in duplicates
