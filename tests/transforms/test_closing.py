"""When conversations of a stream are closed, and with which records (SPEC 3, 7)."""

import pytest

from goodgain.transforms.core.records.search_call import Millis, Result, SearchCall
from goodgain.transforms.core.streaming.options import Closing
from goodgain.transforms.stream_end import StoppableEnd
from tests.core.direct import scoring
from tests.transforms.streams import MINUTE, Script, at, minute_of, play

pytestmark = pytest.mark.slow

CLOSING = Closing()  # 30 minutes after the last event; an hour of allowed lateness


def call(minute, iteration=1, conversation="c", results=1, **fields):
    ids = [f"{conversation}-{iteration}-{rank}" for rank in range(results)]
    fields = {"record_id": f"{minute} {iteration}", **fields}
    return SearchCall(
        conversation,
        iteration,
        timestamp=Millis(at(minute)),
        results=[Result(id=id_, gain=3) for id_ in ids],
        **fields,
    )


def closed_rows(given):
    """(conversation, minute of closing, N, CG) of each score, in order of output."""
    return [
        (score.conversation.conversation_id, minute_of(score.closed), score.conversation.N,
         score.conversation.CG)
        for _, score in given["scores"]
    ]  # fmt: skip


def late(given):
    """(conversation, minute) of each late row, in order of output."""
    return [(row.conversation_id, minute_of(row.timestamp)) for _, row in given["late"]]


def test_records_out_of_order_are_sorted():
    script = Script().arrive(call(20, 3), call(0, 1)).watermark(10).arrive(call(5, 2))
    given = play(script.watermark(35, 49, 51), CLOSING)
    assert closed_rows(given) == [("c", 50, 3, 9)]
    assert [row.i for _, score in given["scores"] for row in score.iterations] == [1, 2, 3]
    assert [score.iterations[1].iteration for _, score in given["scores"]] == [2]
    assert late(given) == []


def test_a_score_has_the_event_time_of_the_last_event():
    given = play(Script().arrive(call(0), call(20, 2)).watermark(51), CLOSING)
    assert [minute_of(time) for time, _ in given["scores"]] == [20]


@pytest.mark.parametrize(
    ("stragglers_at", "expected"), [((31,), 1), ((89.9,), 1), ((90,), 0), ((31, 60, 89), 3)]
)
def test_a_straggler_is_late_until_the_allowed_lateness_has_passed(stragglers_at, expected):
    """Closed at minute 30, remembered until minute 90; afterwards a new conversation starts."""
    script = Script().arrive(call(0)).watermark(29, 30)
    for number, minute in enumerate(stragglers_at):
        script.watermark(minute).arrive(call(minute, 2 + number))
    given = play(script.watermark(400), CLOSING)
    assert late(given) == [("c", minute) for minute in stragglers_at[:expected]]
    again = [("c", minute + 30, 1, 3) for minute in stragglers_at[expected:]]
    assert closed_rows(given) == [("c", 30, 1, 3), *again]


def test_a_straggler_counts_if_its_conversation_is_open():
    """It is far behind the watermark, but the conversation is not closed yet."""
    script = Script().arrive(call(0)).watermark(29).arrive(call(-500, 2))
    given = play(script.watermark(30, 31), CLOSING)
    assert closed_rows(given) == [("c", 30, 2, 6)]


def test_a_late_record_of_an_unknown_conversation_is_scored():
    """It could be the start of a conversation, so it is not dropped."""
    script = Script().watermark(10_000).arrive(call(0)).watermark(10_001)
    given = play(script, CLOSING)
    assert closed_rows(given) == [("c", 30, 1, 3)]
    assert late(given) == []


def test_a_redelivery_counts_as_such_before_closing_and_as_late_afterwards():
    again = call(0)
    script = Script().arrive(call(0), again).watermark(10).arrive(again).watermark(30)
    given = play(script.watermark(31).arrive(again).watermark(32), CLOSING)
    ((_, score),) = given["scores"]
    assert (score.conversation.redelivered, score.counts["records.redelivered"]) == (2, 2)
    assert late(given) == [("c", 0)]


def test_the_final_record_closes_its_conversation_once_the_watermark_has_passed_it():
    script = Script().arrive(call(0), call(5, 2, is_final=True)).watermark(5).arrive(call(5, 3))
    given = play(script.watermark(5.1).arrive(call(6, 4)).watermark(7), CLOSING)
    assert [(element[0], round(element[1]), element[2]) for element in closed_rows(given)] == [
        ("c", 5, 3)
    ]
    assert late(given) == [("c", 6)]


def test_a_final_record_behind_the_watermark_closes_its_conversation_at_once():
    script = Script().arrive(call(0)).watermark(20).arrive(call(10, 2, is_final=True))
    given = play(script.watermark(20.1).arrive(call(20.1, 3)).watermark(30, 60), CLOSING)
    assert [element[2] for element in closed_rows(given)] == [2]
    assert late(given) == [("c", 20.1)]


def test_interleaved_conversations_are_closed_independently():
    script = Script().arrive(call(0, conversation="a"), call(10, conversation="b"))
    script.watermark(20).arrive(call(25, 2, conversation="a")).watermark(39, 40)
    script.arrive(call(35, 2, conversation="b")).watermark(54, 55, 56)
    given = play(script.arrive(call(41, 3, conversation="a")).watermark(57), CLOSING)
    assert closed_rows(given) == [("b", 40, 1, 3), ("a", 55, 2, 6)]
    assert late(given) == [("b", 35), ("a", 41)]


def test_the_end_of_the_stream_closes_open_conversations():
    given = play(Script().arrive(call(0), call(10, conversation="b")).watermark(11), CLOSING)
    assert sorted(closed_rows(given)) == [("b", 40, 1, 3), ("c", 30, 1, 3)]


def test_a_conversation_that_never_pauses_is_closed_after_max_open():
    script = Script()
    for minute in range(0, 120, 20):
        script.arrive(call(minute, 1 + minute)).watermark(minute + 0.5)
    given = play(script.watermark(121), Closing(max_open=60 * MINUTE))
    assert closed_rows(given) == [
        ("c", 60, 4, 12)
    ]  # the record of minute 60 arrived before the watermark
    assert late(given) == [("c", 80), ("c", 100)]


def test_a_clock_years_ahead_affects_only_its_conversation_which_is_closed_after_max_open():
    script = Script().arrive(call(0), call(3_000_000, 2), call(1, conversation="b"))
    given = play(script.watermark(31, 32, 24 * 60), CLOSING)
    assert closed_rows(given) == [("b", 31, 1, 3), ("c", 24 * 60, 2, 6)]
    assert [minute_of(time) for time, _ in given["scores"]] == [1, 24 * 60]


@pytest.mark.parametrize(
    "closing", [Closing(max_open_results=5), Closing(max_open_bytes=200)], ids=["results", "bytes"]
)
def test_calls_beyond_the_cap_are_rejected_and_their_conversation_is_flagged(closing):
    script = Script().arrive(call(0, 1, results=2)).watermark(0.5)
    for minute in range(1, 5):
        script.arrive(call(minute, 1 + minute, results=2)).watermark(minute + 0.5)
    given = play(script.watermark(34, 35), closing)
    ((_, score),) = given["scores"]
    rejected = [row for _, row in given["rejected"]]
    kept = score.conversation.N
    assert 0 < kept < 5
    assert len(rejected) == score.conversation.rejected_records == 5 - kept
    assert len({(row.source, row.position) for row in rejected}) == len(rejected)
    assert all("may be kept open" in row.reason for row in rejected)
    assert score.counts["conversations.over_cap"] == 1
    assert score.counts["conversations.in_means"] == 0
    # Rejected calls still extend the conversation.
    assert minute_of(score.closed) == 34


def test_all_calls_after_the_cap_are_rejected():
    """Also calls that would fit: which records count must not depend on their size."""
    script = Script().arrive(call(0, 1, results=2)).watermark(0.5).arrive(call(1, 2, results=9))
    given = play(
        script.watermark(1.5).arrive(call(2, 3)).watermark(40), Closing(max_open_results=5)
    )
    assert [(element[2], element[3]) for element in closed_rows(given)] == [(1, 6)]
    assert len(given["rejected"]) == 2


def test_a_payload_of_many_calls_is_kept_up_to_the_cap():
    """A file with a whole conversation arrives as one payload."""
    calls = [call(minute, 1 + minute, results=2) for minute in range(5)]
    given = play(Script().arrive(*calls).watermark(34), Closing(max_open_results=5))
    ((_, score),) = given["scores"]
    assert (score.conversation.N, score.conversation.rejected_records) == (2, 3)
    assert len(given["rejected"]) == 3


def test_open_conversations_are_counted_but_not_scored_when_a_stream_is_stopped():
    """The runner moves the watermark to the end of time, but the records reached only minute 40."""
    script = Script().arrive(call(0, conversation="a"), call(9, conversation="b"))
    script.arrive(call(39, 1, conversation="open")).watermark(29, 30, 39, 40)
    end = StoppableEnd()
    end.begin_draining(at(40))
    given = play(script, Closing(live=True), scoring(), end)
    assert closed_rows(given) == [("a", 30, 1, 3), ("b", 39, 1, 3)]
    assert [element.records for _, element in given["still_open"]] == [1]
    names = [live_row.row.conversation_id for _, live_row in given["live"]]
    assert sorted(names) == ["a", "b", "open"]  # the watermark had passed its iteration
