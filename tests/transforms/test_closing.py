"""Closing conversations of a stream, moment by moment (SPEC 7)."""

from tests.transforms.streams import Script, at, minute_of, play
from transforms.core.closing import Closing
from transforms.core.records import Millis, Result, SearchCall

CLOSING = Closing()


def call(minute, iteration=1, conversation="c", **fields):
    results = [Result(id=f"{conversation}-{iteration}", gain=3)]
    fields = {"record_id": f"{minute}", "results": results} | fields
    return SearchCall(conversation, iteration, timestamp=Millis(at(minute)), **fields)


def closed(given):
    """(conversation, N, redelivered, minute) of each score, in the order given."""
    return [
        (
            score.conversation.conversation_id,
            score.conversation.N,
            score.conversation.redelivered,
            minute_of(time),
        )
        for time, score in given["scores"]
    ]


def late(given):
    return [(row.conversation_id, minute_of(row.timestamp)) for _, row in given["late"]]


def test_out_of_order_within_the_gap():
    script = Script().arrive(call(20, 3), call(0, 1)).watermark(10).arrive(call(5, 2))
    given = play(script.watermark(35, 49, 51), CLOSING)
    assert closed(given) == [("c", 3, 0, 20)]
    assert late(given) == []


def test_straggler_is_late():
    script = Script().arrive(call(0, 1)).watermark(30, 31).arrive(call(5, 2)).watermark(70)
    given = play(script, CLOSING)
    assert closed(given) == [("c", 1, 0, 0)]
    assert late(given) == [("c", 5)]
