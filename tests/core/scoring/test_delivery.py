"""Redeliveries and the order of calls (SPEC 3), and the attributes of a conversation (SPEC 6)."""

from itertools import permutations

import pytest

from goodgain.transforms.core.scoring.delivery import deliver
from tests.core.direct import fingerprints, score
from tests.reference.delivery import parse_record


def deliver_all(*records):
    """What remains of the records, after a check that the order of arrival does not matter."""
    records = [{"conversation_id": "c", "iteration": 1, **record} for record in records]
    scores = [score(order)["c"] for order in permutations(records)]
    assert all(score == scores[0] for score in scores)
    (calls,) = fingerprints(records).values()
    outcomes = [deliver(order) for order in permutations(calls)]
    assert all(outcome == outcomes[0] for outcome in outcomes)
    counts = scores[0].counts
    assert counts["records.redelivered"] == outcomes[0].redelivered
    assert counts["conflicting_redeliveries"] == outcomes[0].conflicting
    return outcomes[0]


def labels(outcome):
    """The label of each call's only result, which identifies the call."""
    return [call.results[0].gain for call in outcome.calls]


def call(gain, **columns):
    return {"results": [{"gain": gain}], **columns}


REDELIVERED = [
    # (deliveries, labels of the calls that count, conflicting)
    ([call(1, record_id="r"), call(1, record_id="r")], [1], 0),
    ([call(1, record_id="r"), call(1, record_id="r", iteration=2, timestamp=5)], [1], 1),
    ([call(1, record_id="r", call=0), call(2, record_id="s", call=0)], [1, 2], 0),
    ([call(1, record_id=" ", call=0), call(1, call=0, timestamp=1)], [1], 1),
    ([call(1, call=0, turn=1), call(2, call=0, turn=2)], [1, 2], 0),
    ([call(1, call=0, timestamp=1), call(2, timestamp=2)], [1, 2], 0),
    ([call(1), call(1, query="q")], [1, 1], 0),
    ([call(1), call(1, turn=1, tool=None, unknown=3)], [1], 0),
    ([call(1, timestamp=0), call(1, timestamp="1970-01-01T01:00+01:00")], [1], 0),
    ([call(1, call=0, timestamp=-5), call(2, call=0)], [1], 1),
    ([call(1, call=0, timestamp=1), call(2, call=0, timestamp=2)], [2], 1),
    ([call(2, call=0, timestamp=1), call(1, call=0), call(1, call=0)], [2], 2),
]


@pytest.mark.parametrize(("deliveries", "expected", "conflicting"), REDELIVERED)
def test_one_call_of_each_identity_counts(deliveries, expected, conflicting):
    outcome = deliver_all(*deliveries)
    assert labels(outcome) == expected
    assert outcome.redelivered == len(deliveries) - len(expected)
    assert outcome.conflicting == conflicting


def test_calls_are_ordered_by_position_then_time_then_record_id():
    ordered = [
        call(0, iteration=9),
        call(1, turn=2, record_id="a"),
        call(2, turn=2, call=0, timestamp=-1),
        call(3, turn=2, call=0, record_id="a2", timestamp=-1),
        call(4, turn=2, call=0, record_id="b", timestamp=-1),
        call(0, turn=2, call=1, record_id="0", timestamp=-9),
    ]
    assert labels(deliver_all(*reversed(ordered))) == [0, 1, 2, 3, 4, 0]


def by_digest(*calls):
    """Raw calls in the order of their records' digests, from the reference."""
    parsed = [{"conversation_id": "c", "iteration": 1, **call} for call in calls]
    return sorted(calls, key=lambda one: parse_record(parsed[calls.index(one)]).digest)


def test_equal_positions_are_ordered_by_digest():
    calls = [call(at, query=query) for at, query in enumerate("abcd")]
    ordered = [record["results"][0]["gain"] for record in by_digest(*calls)]
    assert ordered != sorted(ordered)
    assert labels(deliver_all(*calls)) == ordered


def test_of_deliveries_at_one_time_the_greatest_digest_counts():
    calls = [call(at, call=0, timestamp=5, query=query) for at, query in enumerate("abcd")]
    outcome = deliver_all(*calls, call(4, call=0, timestamp=4))
    assert labels(outcome) == [by_digest(*calls)[-1]["results"][0]["gain"]]
    assert (outcome.redelivered, outcome.conflicting) == (4, 4)


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([call(0, turn=2), call(1)], 2),
        ([call(0, turn=2, turn_count=5)], 5),
        ([call(0, turn=3, turn_count=0)], 3),
        ([call(0, record_id="r", turn=9), call(0, record_id="r", timestamp=1)], 1),
    ],
)
def test_last_turn_is_the_greatest_turn_or_turn_count(records, expected):
    assert deliver_all(*records).last_turn == expected


def test_no_deliveries_give_no_calls():
    outcome = deliver([])
    assert (outcome.calls, outcome.last_turn, outcome.attributes()) == ([], None, {})


def test_attributes_are_the_last_nonblank_values():
    outcome = deliver_all(
        call(0, turn=2, attributes={"arm": " ", "model": "m"}),
        call(1, iteration=2, attributes={"arm": "b", "market": "de"}),
        call(2, iteration=1, attributes={"arm": "a", "market": "us"}, timestamp=9),
    )
    assert outcome.attributes() == {"arm": "b", "market": "de", "model": "m"}
