"""Counts for the live view and the final balance."""

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from msgspec.structs import replace

from goodgain.pipeline.results.manifest_counts import RowCounts
from goodgain.pipeline.run.stream.counter import Count, StreamCounter
from goodgain.pipeline.run.stream.stream_counts import check_balance
from goodgain.transforms.core.errors import BalanceError
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.side_rows import RowPlace, UnusedRow
from goodgain.transforms.core.scoring.score_rows import LateRow
from goodgain.transforms.core.streaming.closing import StillOpen
from goodgain.transforms.core.streaming.windowed_means import MissedByMeans
from goodgain.transforms.sources.stream_packing import ReadRecords
from tests.pipeline.run.stream.rows import MINUTE, NOON, score
from tests.pipeline.runs import plain_scoring


@pytest.fixture
def counter():
    return StreamCounter(plain_scoring())


_KEPT = []


def keep(element):
    _KEPT.append(element)


def pass_through(elements, watch):
    """Run the transform over these elements in this process, and return its output."""
    _KEPT.clear()
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        _ = pipeline | beam.Create(elements, reshuffle=False) | watch | beam.Map(keep)
    return list(_KEPT)


READ = [ReadRecords(2, ["a"]), ReadRecords(1, ["b"], watermark=NOON), ReadRecords(3, ahead=4)]
LATE = LateRow("b", 1, 1, 0, None, NOON, 0)
REJECTED = RejectedRecord("f", "line 1", "It is broken.", records=3)


def test_records_are_counted_when_read_and_at_their_outcome(counter):
    closed = score("a", NOON, NOON + MINUTE)
    assert pass_through(READ, Count(counter)) == READ
    outcomes = [LATE, REJECTED, REJECTED, closed]
    assert pass_through(outcomes, Count(counter)) == outcomes
    missed = [MissedByMeans(0, 1, {}, 4), MissedByMeans(0, 1, {"arm": "A"}, 4)]
    assert pass_through(missed, Count(counter)) == missed
    pass_through([StillOpen(5), StillOpen(2)], Count(counter))
    now = counter.now()
    assert (now.read, now.still_open, now.open) == (3 + 3, 7, 0)
    assert (now.closed, now.late, now.rejected, now.missed) == (1, 1, 6, 4)
    assert (now.watermark, now.ahead) == (NOON, 4)
    assert now.means["CG"] == closed.conversation.CG
    assert now.totals == {}


def test_rows_of_outcomes_are_counted(counter):
    assert counter.now().outcomes is None
    joined = {"outcomes.joined": 1, "outcomes.repeated": 1}
    one = score("a", NOON, NOON + MINUTE)
    counter.count({"outcomes.read": 5, "outcomes.empty": 1, "outcomes.rejected": 1})
    counter.count(replace(one, counts=one.counts | joined))
    with pytest.raises(BalanceError, match="5 rows were read of --outcomes"):
        check_balance(replace(counter.now(), read=0))
    counter.count(UnusedRow(RowPlace(0, 1), "No record with this conversation_id has come.", "{}"))
    found = counter.now()
    assert found.outcomes == RowCounts(read=5, joined=1, repeated=1, empty=1, rejected=2)
    check_balance(found)


def test_records_of_rows_that_are_not_written_are_counted(counter):
    for element in (score("a", NOON, NOON + MINUTE), LATE, REJECTED):
        counter.count_skipped(element)
    assert counter.now().skipped == 2 + 1 + 3


def test_without_labels_there_are_no_running_means_of_gain(counter):
    pass_through([score("a", NOON, gain=None)], Count(counter))
    assert list(counter.now().means) == ["SRR", "N"]
    pass_through([score("a", NOON)], Count(counter))
    assert list(counter.now().means) == ["CG", "DCG", "RAG", "SRE", "SRR", "N"]


def test_running_means_of_metrics_that_were_asked_for_leave_out_undefined_values():
    counter = StreamCounter(plain_scoring(), ["CG", "iterations_for_all_good_results"])
    good, bad = score("a", NOON, NOON + MINUTE), score("b", NOON, gain=0)
    pass_through([bad], Count(counter))
    assert counter.now().means["iterations_for_all_good_results"] is None
    pass_through([good], Count(counter))
    means = counter.now().means
    assert list(means) == ["CG", "DCG", "RAG", "SRE", "SRR", "N", "iterations_for_all_good_results"]
    assert (means["CG"], means["iterations_for_all_good_results"]) == (3, 2)


def warning_codes(counter):
    return [warning.code for warning in counter.now().warnings]


def test_warnings_cover_the_conversations_in_means_so_far(counter):
    """A conversation with a rejected record is in no mean, so it causes no warning."""
    pass_through([score("a", NOON)], Count(counter))
    assert warning_codes(counter) == []
    pass_through([score("b", 1_740_916, rejected=1)], Count(counter))
    assert warning_codes(counter) == []
    pass_through([score("c", 1_740_916, gain=None)], Count(counter))
    assert warning_codes(counter) == ["few_labels", "odd_times"]


def test_written_rows_add_to_the_totals(counter):
    counter.count_written("late", [{}, {}])
    counter.count_written("iterations", [{}])
    counter.count_written("late", [{}])
    assert counter.now().totals == {"records.late": 3}


def test_streams_of_one_process_are_counted_one_by_one(counter):
    other = StreamCounter(plain_scoring())
    assert pass_through(READ, Count(counter)) == READ
    assert (counter.now().read, other.now().read) == (6, 0)


def test_without_a_counter_elements_only_pass():
    assert pass_through(READ, Count(None)) == READ
