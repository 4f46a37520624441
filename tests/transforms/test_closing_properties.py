"""Properties of closing for any order, delay and watermark of a stream."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from goodgain.transforms.conversation_closing import CloseConversation
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.search_call import Millis, SearchCall
from goodgain.transforms.core.scoring.payload import payload
from goodgain.transforms.core.scoring.score import score_conversation
from goodgain.transforms.core.streaming.closing import StillOpen
from goodgain.transforms.core.streaming.options import Closing
from goodgain.transforms.stream_end import StreamEnd
from tests.adversarial import conversation_records
from tests.core.direct import scoring, shipped_fingerprinter
from tests.transforms.one_by_one import OneByOne

pytestmark = pytest.mark.slow

SCORING = scoring()
GAP = 1_000
START = 1_700_000_000_000

seeds = st.integers(0, 2**32 - 1)
few_examples = settings(max_examples=100)
many_examples = settings(max_examples=400)


def conversations(random, most_step):
    """Timed calls of two conversations, at most `most_step` ms between their events."""
    calls = []
    for name in "ab":
        time = START + random.randrange(3 * GAP)
        for record in conversation_records(random):
            time += random.randrange(most_step)
            timed = {"conversation_id": name, "timestamp": time, "is_final": False}
            calls.append(parse_mapping({**record, **timed}))
    return calls


def batch_scores(calls):
    """The scores of a batch run, by conversation."""
    by_name = {}
    for call in calls:
        by_name.setdefault(call.conversation_id, []).append(call_fingerprint(call))
    return {
        name: score_conversation(name, fingerprints, 0, SCORING)
        for name, fingerprints in by_name.items()
    }


def call_fingerprint(call):
    return shipped_fingerprinter().call_fingerprint(call)


def stream(closing):
    dofn = CloseConversation(SCORING, closing)
    return OneByOne(dofn, dofn.wake_up)


def arrive(engine, calls):
    """Let calls arrive together; those of one conversation form one payload."""
    for name in sorted({call.conversation_id for call in calls}):
        own = [call for call in calls if call.conversation_id == name]
        earliest = min(call.timestamp for call in own)
        engine.arrive(name, payload(list(map(call_fingerprint, own))), int(earliest))


def play(calls, random, closing, most_delay, behind):
    """Stream calls up to `most_delay` after their time; the watermark is `behind` the newest."""
    arrivals = sorted(
        (call.timestamp + random.randint(0, most_delay), at) for at, call in enumerate(calls)
    )
    engine, newest, together = stream(closing), 0, []
    for _, at in arrivals:
        together.append(calls[at])
        if random.random() < 0.3 and at != arrivals[-1][1]:
            continue
        arrive(engine, together)
        newest = max([newest, *(call.timestamp for call in together)])
        together = []
        engine.watermark(newest - behind)
    # Long after all calls no state remains, so the end of the stream would change nothing.
    engine.watermark(newest + closing.gap + closing.allowed_lateness)
    assert not engine.remaining()
    return engine


def closed_scores(engine):
    scores = engine.of("main")
    assert len({score.conversation.conversation_id for score in scores}) == len(scores)
    return {score.conversation.conversation_id: score for score in scores}


def assert_stream_gives_batch(seed, live):
    """Delays are below the gap; the watermark allows for all, part or none of them."""
    random = Random(seed)
    most_delay = random.choice([1, GAP // 4, GAP // 2])
    calls = conversations(random, most_step=GAP // 2 - 1)
    behind = random.randint(0, most_delay)
    engine = play(calls, random, Closing(GAP, max_open=GAP * 1_000, live=live), most_delay, behind)
    closed = closed_scores(engine)
    assert {name: score.closed for name, score in closed.items()} == {
        name: max(call.timestamp for call in calls if call.conversation_id == name) + GAP
        for name in closed
    }
    expected = batch_scores(calls)
    assert {name: rows_of(score) for name, score in closed.items()} == {
        name: rows_of(score) for name, score in expected.items()
    }
    assert not engine.of("late")
    assert not engine.of("rejected")
    if live:
        assert_last_live_rows_equal_closed_ones(engine)


def rows_of(score):
    return (score.conversation, score.iterations, score.duplicates, score.counts)


@given(seeds)
@few_examples
def test_any_order_within_the_lateness_gives_the_rows_of_batch(seed):
    assert_stream_gives_batch(seed, live=seed % 2 == 0)


@pytest.mark.slow
@given(seeds)
@many_examples
def test_any_order_within_the_lateness_gives_the_rows_of_batch_many_times(seed):
    assert_stream_gives_batch(seed, live=seed % 2 == 0)


def play_anything(seed):
    """A stream without guarantees: any delay and gap, stragglers, final records, small caps."""
    random = Random(seed)
    calls = [
        replace(call, is_final=random.random() < 0.1)
        for call in conversations(random, most_step=random.choice([10, GAP, 3 * GAP]))
    ]
    closing = Closing(
        random.choice([1, GAP // 2, GAP]),
        allowed_lateness=random.choice([0, 1, GAP, 10 * GAP]),
        max_open=random.choice([1, GAP, 1_000 * GAP]),
        max_open_results=random.choice([1, 5, 1_000, 1_000]),
        max_open_bytes=random.choice([300, 1_000_000, 1_000_000]),
        live=random.random() < 0.7,
    )
    most_delay = random.choice([1, GAP, 5 * GAP])
    return calls, play(calls, random, closing, most_delay, random.randint(0, most_delay))


def assert_every_record_has_one_outcome(calls, engine):
    outcomes = Counter(late=len(engine.of("late")), rejected=len(engine.of("rejected")))
    for score in engine.of("main"):
        outcomes.update(
            {
                name: score.counts[f"records.{name}"]
                for name in ("scored", "earlier_turn", "redelivered")
            }
        )
    assert outcomes.total() == len(calls)
    over_cap = [score for score in engine.of("main") if "conversations.over_cap" in score.counts]
    assert sum(score.conversation.rejected_records for score in over_cap) == outcomes["rejected"]
    return outcomes


def assert_last_live_rows_equal_closed_ones(engine):
    """The last revisions of all rows, without withdrawn ones, are the rows of batch."""
    tables = {}
    for tag, _, element in engine.given:
        if tag == "live":
            table = tables.setdefault(element.row.conversation_id, {})
            key = (element.row.turn, element.row.i)
            before = table.get(key)
            assert element.revision == (before.revision + 1 if before else 1)
            if before is None:
                assert not element.withdrawn
            else:
                assert (before.row, before.withdrawn) != (element.row, element.withdrawn)
            table[key] = element
        elif tag == "main":
            table = tables.pop(element.conversation.conversation_id, {})
            rows = [live_row.row for _, live_row in sorted(table.items()) if not live_row.withdrawn]
            assert rows == element.iterations
    assert not tables


def outcomes_of_any_stream(seed):
    calls, engine = play_anything(seed)
    outcomes = assert_every_record_has_one_outcome(calls, engine)
    if engine.of("live"):
        assert_last_live_rows_equal_closed_ones(engine)
    return outcomes


@given(seeds)
@few_examples
def test_every_record_is_counted_and_nothing_stays_open(seed):
    outcomes_of_any_stream(seed)


@pytest.mark.slow
@given(seeds)
@many_examples
def test_every_record_is_counted_and_nothing_stays_open_many_times(seed):
    outcomes_of_any_stream(seed)


def test_the_streams_of_these_tests_cover_every_outcome():
    seen = Counter()
    for seed in range(60):
        seen.update(outcomes_of_any_stream(seed))
    assert set(seen) == {"late", "rejected", "scored", "earlier_turn", "redelivered"}
    assert min(seen.values()) > 20


def test_a_payload_costs_one_read_and_one_append_of_state():
    """Most of the cost of a stream is requests for state."""
    engine = stream(Closing(GAP))
    calls = [SearchCall("c", number, timestamp=Millis(START + number)) for number in range(8)]
    for call in calls:
        arrive(engine, [call])
    assert engine.requests == {"get": 8, "append": 8}
    engine.requests.clear()
    engine.watermark(START + GAP)
    assert not engine.given
    assert engine.requests == {"get": 1, "append": 1}  # it looked whether it has continued
    engine.requests.clear()
    engine.watermark(START + GAP + 7)
    assert [score.conversation.N for score in engine.of("main")] == [8]
    assert engine.requests == {"get": 1, "clear": 1, "append": 1}
    engine.requests.clear()
    arrive(engine, calls[:1])
    assert engine.of("late")
    assert engine.requests == {"get": 1}


class Ended(StreamEnd):
    def is_due(self, deadline_ms):
        return False


def test_wake_ups_at_the_end_of_a_stopped_stream_only_count_what_is_open():
    dofn = CloseConversation(SCORING, Closing(GAP), Ended())
    engine = OneByOne(dofn, dofn.wake_up)
    arrive(engine, [SearchCall("c", 1, timestamp=Millis(START))])
    engine.requests.clear()
    engine.end()
    assert engine.of("still_open") == [StillOpen(1)]
    assert len(engine.given) == 1
    assert engine.requests == {"get": 1}
