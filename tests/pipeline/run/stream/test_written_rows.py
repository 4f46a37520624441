"""Rows that earlier starts wrote are left out, each as often as it was written."""

import pytest
from msgspec.structs import asdict

from goodgain.pipeline.results.rows import conversation_rows
from goodgain.pipeline.run.stream.resume import WrittenRows, begin, missed_before
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.rows import LateRow
from goodgain.transforms.core.streaming.windowed_means import MissedByMeans
from tests.pipeline.run.stream.rows import MINUTE, NOON, live, score

LATE = LateRow("c", 1, 2, 0, "r", NOON, 3)
REJECTED = RejectedRecord("a.jsonl", "line 3", "It is broken.", None, "c", "{", 1)


def written_rows(*scores, complete_from=None):
    rows = WrittenRows(complete_from)
    for one in scores:
        rows.add_conversations(conversation_rows(one))
    return rows


def test_at_first_every_row_is_new():
    assert written_rows().lacks(score("c", NOON))
    assert written_rows().lacks(LATE)


def test_a_conversation_is_left_out_once():
    written = written_rows(score("c", NOON, NOON + MINUTE))
    assert not written.lacks(score("c", NOON, NOON + MINUTE))
    assert written.lacks(score("c", NOON, NOON + MINUTE))


@pytest.mark.parametrize(
    ("times", "is_same"),
    [
        ((NOON, NOON + 2 * MINUTE), True),  # a straggler is now in time
        ((NOON + MINUTE,), True),  # its start is not read again
        ((NOON + 2 * MINUTE, NOON + 3 * MINUTE), False),  # closed before; these are later calls
    ],
)
def test_a_conversation_with_the_same_first_or_last_time_is_left_out(times, is_same):
    written = written_rows(score("c", NOON, NOON + MINUTE))
    assert written.lacks(score("c", *times)) is not is_same


def test_another_conversation_at_the_same_time_is_new():
    assert written_rows(score("c", NOON)).lacks(score("d", NOON))


@pytest.mark.parametrize("element", [LATE, REJECTED], ids=["late", "rejected"])
def test_rows_written_twice_are_left_out_twice(element):
    written = written_rows()
    add = written.add_late if element is LATE else written.add_rejected
    add([asdict(element), asdict(element)])
    assert [written.lacks(element) for _ in range(3)] == [False, False, True]


def test_late_records_read_again_without_their_conversation_stay_late():
    written = written_rows(score("c", NOON - MINUTE), complete_from=NOON + MINUTE)
    written.add_late([asdict(LATE)])
    assert not written.lacks(score("c", NOON))
    assert written.lacks(score("d", NOON))
    assert written.lacks(score("c", NOON, NOON + 2 * MINUTE))


def test_rejected_records_read_again_without_their_conversation_are_left_out():
    written = written_rows(score("c", NOON), complete_from=NOON)
    assert not written.lacks(score("c", rejected=1))
    assert written.lacks(score("d", rejected=1))
    assert written_rows(score("c", NOON)).lacks(score("c", rejected=1))  # everything is read again


def test_conversations_closed_after_the_last_pane_of_their_window_are_missed_by_the_means():
    hour = 60 * MINUTE
    begin(written_rows(complete_from=NOON + 1))
    try:
        found = [
            list(missed_before(one, hour))
            for one in (
                score("c", NOON + 59 * MINUTE),
                score("c", NOON + hour),
                score("c", NOON, rejected=1),  # would be in no mean
            )
        ]
    finally:
        begin(WrittenRows())
    assert found == [[MissedByMeans(NOON, NOON + hour, {}, 1)], [], []]


def test_conversations_missed_by_closed_windows_are_not_counted_again():
    """Such a window is open again only because parts of it are read again."""
    written = written_rows(complete_from=NOON)
    assert not written.lacks(MissedByMeans(NOON - MINUTE, NOON, {}, 1))
    assert written.lacks(MissedByMeans(NOON, NOON + MINUTE, {}, 1))


def test_live_rows_of_closed_conversations_that_are_read_in_part_are_left_out():
    written = written_rows(score("c", NOON), complete_from=NOON)
    assert not written.lacks_live(live("c"), NOON - 1)
    assert written.lacks_live(live("c"), NOON)
    assert written.lacks_live(live("d"), NOON - 1)
