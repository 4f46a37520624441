"""Outcomes from files in a stream: each row is joined, repeated or reported, as in batch."""

from random import Random

import apache_beam as beam
import pytest

from goodgain.transforms.conversation_closing import CloseConversation
from goodgain.transforms.core.files.outcomes import OutcomesOfRow, join_outcomes
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.payload import payload
from goodgain.transforms.core.scoring.score import score_conversation
from goodgain.transforms.core.streaming.options import Closing
from goodgain.transforms.fingerprint import FingerprintCalls
from goodgain.transforms.keyed_outcomes import key_row
from goodgain.transforms.score_stream import ScoreStreamedPayloads
from goodgain.transforms.stream_end import StreamEnd
from tests.adversarial import conversation_records
from tests.core.direct import scoring, shipped_fingerprinter
from tests.transforms.one_by_one import OneByOne
from tests.transforms.streams import Script, at, collect_outputs

SCORING = scoring(outcome=("correct", "rating>=0.5"))
CLOSING = Closing()
BEGIN_OF_TIME = -(2**53)


def calls_of(random, name):
    """Calls of one conversation, a minute apart; some have outcomes."""
    return [
        parse_mapping(
            {
                **record,
                "conversation_id": name,
                "timestamp": at(minute),
                "is_final": False,
                "outcomes": {"correct": random.randrange(2)} if random.random() < 0.5 else {},
            }
        )
        for minute, record in enumerate(conversation_records(random))
    ]


def rows_of(random, names):
    """Rows of outcomes: of conversations, of an unknown one, repeated and contradicting ones."""
    return [
        OutcomesOfRow(
            0,
            number,
            random.choice([*names, "unknown"]),
            {random.choice(["correct", "rating"]): float(random.randrange(2))},
        )
        for number in range(1, 12)
    ]


def engine_of(end=None):
    close = CloseConversation(SCORING, CLOSING, *([] if end is None else [end]), with_outcomes=True)
    return OneByOne(close, close.wake_up)


def fingerprint(call):
    return shipped_fingerprinter().call_fingerprint(call)


@pytest.mark.parametrize("seed", range(40))
def test_in_any_order_rows_are_joined_as_in_batch(seed):
    random = Random(seed)
    calls = {name: calls_of(random, name) for name in "abc"}
    rows = rows_of(random, "abc")
    arrivals = [(record.conversation_id, payload([fingerprint(record)]), record.timestamp)
                for of_one in calls.values() for record in of_one]  # fmt: skip
    arrivals += [(*key_row(row), BEGIN_OF_TIME) for row in rows]
    random.shuffle(arrivals)
    engine = engine_of()
    for arrival in arrivals:
        engine.arrive(*arrival)
    engine.watermark(at(10_000))
    engine.end()
    assert not engine.remaining()
    scores = {score.conversation.conversation_id: score for score in engine.of("main")}
    unused = []
    for name, of_one in calls.items():
        joined = join_outcomes([row for row in rows if row.conversation_id == name], exists=True)
        expected = score_conversation(
            name, map(fingerprint, of_one), 0, SCORING, outcomes=joined.values
        )
        score = scores.pop(name)
        assert score.conversation == expected.conversation
        assert score.counts.get("outcomes.joined", 0) == joined.joined
        assert score.counts.get("outcomes.repeated", 0) == joined.repeated
        unused += [(unused.place.row, unused.other.row) for unused in joined.unused]
    assert not scores
    unused += [(row.row, None) for row in rows if row.conversation_id == "unknown"]
    found = [
        (unused.place.row, unused.other and unused.other.row) for unused in engine.of("unused")
    ]
    assert sorted(found, key=str) == sorted(unused, key=str)


def test_rows_open_no_conversation():
    engine = engine_of()
    engine.arrive(*key_row(OutcomesOfRow(0, 1, "a", {"correct": 1.0})), BEGIN_OF_TIME)
    engine.watermark(at(10_000))
    assert not engine.given
    engine.end()
    (unused,) = engine.of("unused")
    assert unused.reason == "No record with this conversation_id has come."
    assert len(engine.given) == 1


class Stopped(StreamEnd):
    def is_due(self, deadline_ms):
        return False


def test_rows_of_open_conversations_are_reported_when_the_stream_is_stopped():
    engine = engine_of(Stopped())
    for call in calls_of(Random(1), "a"):
        engine.arrive("a", payload([fingerprint(call)]), call.timestamp)
    engine.arrive(*key_row(OutcomesOfRow(0, 1, "a", {"correct": 1.0})), BEGIN_OF_TIME)
    engine.end()
    (unused,) = engine.of("unused")
    assert unused.reason == "The conversation was still open when the stream was stopped."
    assert len(engine.of("still_open")) == 1


def test_without_outcomes_no_state_of_them_is_read():
    close = CloseConversation(SCORING, CLOSING)
    engine = OneByOne(close, close.wake_up)
    calls = calls_of(Random(1), "a")
    for call in calls:
        engine.arrive("a", payload([fingerprint(call)]), call.timestamp)
    requests = engine.requests["get"]
    assert requests == len(calls)
    engine.watermark(at(10_000))
    assert not engine.of("unused")


@pytest.mark.slow
def test_through_beam():
    random = Random(2)
    calls = calls_of(random, "a")
    rows = [OutcomesOfRow(0, 1, "a", {"correct": 1.0}), OutcomesOfRow(0, 2, "b", {"correct": 1.0})]
    with collect_outputs() as (pipeline, keep, given):
        records = pipeline | Script().arrive(*calls).watermark(100, 1_000).end()
        outcomes = pipeline | beam.Create(rows).with_output_types(OutcomesOfRow)
        payloads = records | FingerprintCalls(Packing.of(SCORING))
        scored = payloads | ScoreStreamedPayloads(SCORING, CLOSING, outcomes=outcomes)
        keep("scores", scored.scores)
        keep("unused", scored.unused)
    assert [score.conversation["outcome.correct"] for _, score in given["scores"]] == [1]
    assert [unused.place.row for _, unused in given["unused"]] == [2]
