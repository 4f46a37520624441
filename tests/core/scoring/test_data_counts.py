"""The counts of a conversation on which warnings are based."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.scoring.data_counts import (
    AHEAD,
    BEFORE_1990,
    COUNTED,
    IN_SECONDS,
    LABELS,
    OF_ONE_ITERATION,
    REPEATABLE,
    REPEATS,
    RESULTS,
    TIMES,
    UNIDENTIFIED,
    UNLABELLED,
    order_counts,
)
from tests.adversarial import trace
from tests.core.direct import score, score_one, total_counts
from tests.reference import evaluate
from tests.reference.evidence import evidence_of, keys_of
from tests.reference.rules import CONTAINER_IDS, RULES, rule_name_of

LONG = "s" * 50
CLOCK = 1_700_000_000_000
DAY = 86_400_000


def counts_of(*records, clock=None):
    return score_one(list(records), clock=clock).counts


def count_unidentified(result):
    return counts_of({"results": [result]}).get(UNIDENTIFIED, 0)


@pytest.mark.parametrize(
    "result",
    [
        {"id": "g"},
        {"url": "u"},
        {"title": "t"},
        {"snippet": LONG},
        {"content": LONG},
        {"fields": {"subject": "s"}},
        {"fields": {"start": "1", "end": "2"}},
        {"ids": {"doc_id": "d"}},
        {"ids": {"chunk_id": "d"}},
        {"ids": {"file_id": "d"}},
        {"entity_type": "Wiki", "ids": {"chunk_id": "d"}},
        {"entity_type": "File", "ids": {"file_id": "d"}},
    ],
)
def test_results_that_are_identified(result):
    assert count_unidentified(result) == 0


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"snippet": LONG[1:]},
        {"fields": {"start": "1", "author": "a"}},
        {"ids": {"site_id": "d"}},
        {"entity_type": "File", "ids": {"chunk_id": "d", "doc_id": "d", "site_id": "s"}},
        {"reference_id": "turn1search3", "id": " ", "url": ""},
    ],
)
def test_results_that_are_not_identified(result):
    assert count_unidentified(result) == 1


def is_identified(result):
    """Whether a result is identified by SPEC 10, given the reference's evidence."""
    evidence = evidence_of(result)
    rule = rule_name_of(evidence.type)
    named = set(evidence.ids) & set(RULES[rule]["definitive"])
    if rule == "default":
        named |= set(evidence.ids) - CONTAINER_IDS
    texts = [kind for kind, _ in keys_of(evidence) if not kind.startswith("id:")]
    return bool(named or set(texts) - {"evidence"})


@given(st.integers(min_value=0, max_value=2**32 - 1))
@settings(max_examples=40)
def test_counts_equal_those_of_the_records(seed):
    records = [
        record
        for record in trace(Random(seed), conversations=3)
        if not (record.get("record_id") or "").strip()  # not redelivered
    ]
    for number, record in enumerate(records):
        record |= {"turn": 1, "turn_count": None, "record_id": f"r{number}"}
    searches = [record for record in records if record.get("action") in (None, "search")]
    results = [result for record in searches for result in record["results"] or []]
    total = total_counts(score(records))
    assert total[RESULTS] == len(results)
    assert total[UNIDENTIFIED] == sum(not is_identified(result) for result in results)
    gains = [result["gain"] for result in results]
    assert [total[name] for name in LABELS] == [gains.count(gain) for gain in range(5)]
    assert total[UNLABELLED] == gains.count(None)
    reference = evaluate(records)["conversations"].values()
    assert total[REPEATABLE] == sum(row["R"] for row in reference if row["N"] > 1)
    assert total[OF_ONE_ITERATION] == sum(row["R"] for row in reference if row["N"] == 1)
    assert total[REPEATS] == sum(row["DupR"] for row in reference if row["N"] > 1)


def test_odd_times_are_counted():
    records = [
        {"iteration": at, "timestamp": time}
        for at, time in enumerate(
            (CLOCK, CLOCK + DAY, CLOCK + DAY + 1, 631_151_999_999, 1_700_000_000, -1, None), start=1
        )
    ]
    counts = counts_of(*records, clock=CLOCK)
    assert [counts[name] for name in (TIMES, BEFORE_1990, IN_SECONDS, AHEAD)] == [6, 3, 1, 1]
    assert AHEAD not in counts_of(*records)


def test_results_of_a_single_iteration_are_not_repeatable():
    result = {"id": "g"}
    counts = counts_of({"results": [result, result]})
    assert REPEATABLE not in counts
    assert counts_of({"results": [result]}, {"iteration": 2, "results": [result]})[REPEATS] == 1


def test_counts_are_ordered_by_their_names():
    counts = {name: number for number, name in enumerate(COUNTED)}
    assert order_counts({**counts, "more": 1}) == tuple(range(len(COUNTED)))
