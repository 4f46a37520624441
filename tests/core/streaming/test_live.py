"""Which live rows are due, and which revisions are emitted (SPEC 7)."""

from msgspec.structs import replace

from goodgain.transforms.core.streaming.live import (
    count_passed,
    find_ends_of_iterations,
    keep_latest,
    next_end,
    revise,
)
from tests.core.direct import fingerprints, score


def score_calls(*iterations):
    """Iteration rows and calls, from (iteration, time, gain) of each call."""
    records = [
        {
            "conversation_id": "c",
            "iteration": iteration,
            "timestamp": time,
            "results": [{"id": f"{iteration}", "gain": gain}],
        }
        for iteration, time, gain in iterations
    ]
    return score(records)["c"].iterations, fingerprints(records)["c"]


def test_an_iteration_ends_with_its_last_event_and_after_earlier_iterations():
    rows, calls = score_calls((1, 50, 3), (2, 30, 3), (2, 40, 2), (7, 90, 1))
    assert find_ends_of_iterations(rows, calls, unknown=0) == [50, 50, 90]


def test_a_call_without_time_ends_at_its_default_time():
    rows, calls = score_calls((1, None, 3), (2, 30, 3))
    assert find_ends_of_iterations(rows, calls, unknown=35) == [35, 35]


def test_earlier_turns_are_ignored():
    rows, calls = score_calls((1, 50, 3))
    earlier = [replace(call, turn=0, timestamp=900) for call in calls]
    assert find_ends_of_iterations(rows, calls + earlier, unknown=0) == [50]


def test_the_watermark_must_be_later_than_an_event():
    ends = [50, 50, 90]
    assert [count_passed(ends, now) for now in (49, 50, 51, 90, 91)] == [0, 0, 2, 2, 3]
    assert [next_end(ends, now) for now in (49, 50, 51, 90, 91)] == [51, 51, 91, 91, None]


def test_a_withdrawn_row_that_returns_is_emitted_again():
    rows, _ = score_calls((1, 10, 3), (2, 20, 2))
    emitted = revise([], rows, due=2)
    assert revise(emitted, rows, due=2) == []
    withdrawals = revise(emitted, rows[:1], due=1)
    assert [
        (withdrawal.row.i, withdrawal.revision, withdrawal.withdrawn) for withdrawal in withdrawals
    ] == [(2, 2, True)]
    emitted = keep_latest(emitted, withdrawals)
    assert revise(emitted, rows[:1], due=1) == []
    again = revise(emitted, rows, due=2, is_final=True)
    assert [
        (live_row.row, live_row.revision, live_row.withdrawn, live_row.is_final)
        for live_row in again
    ] == [(rows[1], 3, False, True)]
