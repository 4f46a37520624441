"""Counters for the live view and the totals; other processes count nothing."""

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from msgspec.structs import replace

from goodgain.pipeline.run.stream import live_counters
from goodgain.pipeline.run.stream.live_counters import CountLive, StreamTotals
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.rows import LateRow
from goodgain.transforms.core.streaming.windowed_means import MissedByMeans
from goodgain.transforms.sources.streamed import ReadRecords
from tests.pipeline.run.stream.rows import MINUTE, NOON, score
from tests.pipeline.runs import plain_scoring


@pytest.fixture
def counting():
    live_counters.begin(StreamTotals(scored=5, conversations=2), plain_scoring())
    yield
    live_counters._state = None


_KEPT = []


def keep(element):
    _KEPT.append(element)


def pass_through(elements, watch):
    """Run the transform over these elements in this process, and return its output."""
    _KEPT.clear()
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        _ = pipeline | beam.Create(elements, reshuffle=False) | watch | beam.Map(keep)
    return list(_KEPT)


READ = [ReadRecords(2, ["a"]), ReadRecords(1, ["b"]), ReadRecords(3, [])]
LATE = LateRow("b", 1, 1, 0, None, NOON, 0)
REJECTED = RejectedRecord("f", "line 1", "It is broken.", records=3)


@pytest.mark.usefixtures("counting")
def test_records_are_counted_when_read_and_at_their_outcome():
    closed = score("a", NOON, NOON + MINUTE)
    assert pass_through(READ, CountLive()) == READ
    outcomes = [LATE, REJECTED, REJECTED, closed]
    assert pass_through(outcomes, CountLive()) == outcomes
    missed = [MissedByMeans(0, 1, {}, 4), MissedByMeans(0, 1, {"arm": "A"}, 4)]
    assert pass_through(missed, CountLive()) == missed
    now = live_counters.now()
    assert (now.read, now.out, now.open) == (3 + 3, 1 + 2 + 3 + 3, 0)
    assert (now.closed, now.late, now.rejected, now.missed) == (1, 1, 6, 4)
    assert now.means["CG"] == closed.conversation.CG
    assert now.totals == StreamTotals(scored=5, conversations=2)


@pytest.mark.usefixtures("counting")
def test_without_labels_there_are_no_running_means_of_gain():
    labelled = score("a", NOON)
    row = labelled.conversation
    pass_through([replace(labelled, conversation=replace(row, unlabelled=row.R))], CountLive())
    assert list(live_counters.now().means) == ["SRR", "N"]
    pass_through([labelled], CountLive())
    assert list(live_counters.now().means) == ["CG", "DCG", "RAG", "SRE", "SRR", "N"]


def warning_codes():
    return [warning.code for warning in live_counters.now().warnings]


@pytest.mark.usefixtures("counting")
def test_warnings_cover_the_conversations_in_means_so_far():
    """A conversation with a rejected record is in no mean, so it causes no warning."""
    pass_through([score("a", NOON)], CountLive())
    assert warning_codes() == []
    pass_through([score("b", 1_740_916, rejected=1)], CountLive())
    assert warning_codes() == []
    pass_through([score("c", 1_740_916, gain=None)], CountLive())
    assert warning_codes() == ["few_labels", "odd_times"]


@pytest.mark.usefixtures("counting")
def test_written_rows_add_to_the_totals_of_earlier_starts():
    live_counters.written("late", [{}, {}])
    live_counters.written("iterations", [{}])
    assert live_counters.now().totals == StreamTotals(scored=5, conversations=2, late=2)


def test_a_process_without_counters_counts_nothing():
    assert pass_through(READ, CountLive()) == READ
    live_counters.written("late", [{}])
    assert live_counters.now().read == live_counters.now().totals.late == 0
