"""Live rows of iterations, emitted before their conversation is closed (SPEC 7)."""

import pytest

from goodgain.transforms.core.records.search_call import Millis, Result, SearchCall
from goodgain.transforms.core.streaming.options import Closing
from tests.transforms.streams import Script, at, minute_of, play

pytestmark = pytest.mark.slow

CLOSING = Closing(live=True)


def call(minute, iteration, *documents, turn=1, **fields):
    results = [Result(id=name, gain=gain) for name, gain in documents]
    fields = {"record_id": f"{minute} {iteration}", **fields}
    return SearchCall(
        "c", iteration, turn=turn, timestamp=Millis(at(minute)), results=results, **fields
    )


def live(script, closing=CLOSING):
    """(turn, i, raw iteration, revision, G_i, mark) of each live row, in order of output."""
    given = play(script, closing)
    return [
        (entry.row.turn, entry.row.i, entry.row.iteration, entry.revision, entry.row.G_i,
         "withdrawn" if entry.withdrawn else "final" if entry.is_final else "")
        for _, entry in given["live"]
    ]  # fmt: skip


def test_each_row_is_emitted_once_the_watermark_passes_its_iteration():
    script = Script().arrive(call(0, 1, ("a", 3)), call(2, 2, ("a", 3), ("b", 2)))
    script.watermark(1).arrive(call(4, 5, ("d", 4))).watermark(3, 5, 33, 35)
    given = play(script, CLOSING)
    assert [(entry.row.i, entry.revision, entry.row.CG_at_i) for _, entry in given["live"]] == [
        (1, 1, 3), (2, 1, 5), (3, 1, 9)
    ]  # fmt: skip
    # Each as soon as the watermark has passed the iteration's last event; closing adds none.
    assert [minute_of(time) for time, _ in given["live"]] == [
        minute + 1 / 60_000 for minute in (0, 2, 4)
    ]
    assert [entry.row for _, entry in given["live"]] == given["scores"][0][1].iterations


def test_an_iteration_waits_for_its_last_call_and_for_earlier_iterations():
    script = Script().arrive(call(9, 1, ("a", 3)), call(0, 1, ("b", 2)), call(3, 2, ("d", 2)))
    given = play(script.watermark(5, 10, 39), CLOSING)
    assert [(entry.row.i, entry.row.G_i, entry.revision) for _, entry in given["live"]] == [
        (1, 5, 1), (2, 2, 1)
    ]  # fmt: skip
    assert {round(minute_of(time)) for time, _ in given["live"]} == {9}


def test_a_record_out_of_order_emits_the_changed_rows_again():
    """The good document of iteration 2 turns out to be a duplicate; iteration 3 is unchanged."""
    script = Script().arrive(call(0, 1, ("a", 3)), call(2, 2, ("b", 4)))
    script.watermark(3).arrive(call(1, 1, ("b", 4))).watermark(4).arrive(call(5, 3, ("d", 2)))
    assert live(script.watermark(6, 36)) == [
        (1, 1, 1, 1, 3, ""),
        (1, 2, 2, 1, 4, ""),
        (1, 1, 1, 2, 7, ""),
        (1, 2, 2, 2, 0, ""),
        (1, 3, 3, 1, 2, ""),
    ]


def test_an_earlier_iteration_that_arrives_later_renumbers_the_others():
    script = Script().arrive(call(2, 5, ("b", 4))).watermark(3).arrive(call(1, 2, ("a", 3)))
    assert live(script.watermark(4, 33)) == [
        (1, 1, 5, 1, 4, ""),
        (1, 1, 2, 2, 3, ""),
        (1, 2, 5, 1, 4, ""),
    ]


def test_a_new_turn_withdraws_the_rows_of_the_previous_one():
    script = Script().arrive(call(0, 1, ("a", 3)), call(1, 2, ("b", 2))).watermark(2)
    script.arrive(call(5, 1, ("d", 4), turn=2)).watermark(6, 36)
    assert live(script) == [
        (1, 1, 1, 1, 3, ""),
        (1, 2, 2, 1, 2, ""),
        (1, 1, 1, 2, 3, "withdrawn"),
        (1, 2, 2, 2, 2, "withdrawn"),
        (2, 1, 1, 1, 4, ""),
    ]


def test_a_turn_without_search_withdraws_all_rows():
    script = Script().arrive(call(0, 1, ("a", 3))).watermark(1)
    script.arrive(call(2, 2, ("b", 3), turn_count=2)).watermark(3, 33)
    assert live(script) == [(1, 1, 1, 1, 3, ""), (1, 1, 1, 2, 3, "withdrawn")]


def test_closing_emits_rows_that_the_watermark_has_not_passed():
    """The clock of the second record is a year ahead, so its conversation is closed before."""
    closing = Closing(live=True, max_open=600_000)
    script = Script().arrive(call(0, 1, ("a", 3))).watermark(1)
    script.arrive(call(500_000, 1, ("b", 2))).watermark(9, 10, 11)
    assert live(script, closing) == [(1, 1, 1, 1, 3, ""), (1, 1, 1, 2, 5, "final")]


def test_a_late_record_changes_no_row():
    script = Script().arrive(call(0, 1, ("a", 3))).watermark(1, 30)
    assert live(script.arrive(call(2, 2, ("b", 3))).watermark(31, 60)) == [(1, 1, 1, 1, 3, "")]


def test_without_live_there_are_no_live_rows():
    script = Script().arrive(call(0, 1, ("a", 3))).watermark(1, 30)
    assert live(script, Closing()) == []
