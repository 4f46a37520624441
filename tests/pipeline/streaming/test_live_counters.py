"""What the live view and the balance count; nothing where nobody looks."""

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from msgspec.structs import replace

from goodgain.pipeline.streaming import live_counters
from goodgain.pipeline.streaming.live_counters import Watch
from goodgain.pipeline.streaming.totals import StreamTotals
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.rows import LateRow
from goodgain.transforms.core.streaming.windowed_means import MissedByMeans
from goodgain.transforms.sources.streamed import ReadRecords
from tests.pipeline.runs import plain_scoring
from tests.pipeline.streaming.rows import MINUTE, NOON, score


@pytest.fixture
def begun():
    live_counters.begin(StreamTotals(scored=5, conversations=2), plain_scoring())
    yield
    live_counters._seen = None


_KEPT = []


def keep(element):
    _KEPT.append(element)


def passed(elements, watch):
    """What comes out of the transform behind these elements, in this process."""
    _KEPT.clear()
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        _ = pipeline | beam.Create(elements, reshuffle=False) | watch | beam.Map(keep)
    return list(_KEPT)


CAME = [ReadRecords(2, ["a"]), ReadRecords(1, ["b"]), ReadRecords(3, [])]
LATE = LateRow("b", 1, 1, 0, None, NOON, 0)
REJECTED = RejectedRecord("f", "line 1", "It is broken.", records=3)


@pytest.mark.usefixtures("begun")
def test_each_record_is_counted_where_it_comes_in_and_where_it_ends():
    closed = score("a", NOON, NOON + MINUTE)
    assert passed(CAME, Watch()) == CAME
    became = [LATE, REJECTED, REJECTED, closed]
    assert passed(became, Watch()) == became
    missed = [MissedByMeans(0, 1, {}, 4), MissedByMeans(0, 1, {"arm": "A"}, 4)]
    assert passed(missed, Watch()) == missed
    now = live_counters.now()
    assert (now.read, now.out, now.open) == (3 + 3, 1 + 2 + 3 + 3, 0)
    assert (now.closed, now.late, now.rejected, now.missed) == (1, 1, 6, 4)
    assert now.means["CG"] == closed.conversation.CG
    assert now.totals == StreamTotals(scored=5, conversations=2)


@pytest.mark.usefixtures("begun")
def test_without_any_label_there_is_no_running_mean_of_gain():
    labelled = score("a", NOON)
    row = labelled.conversation
    passed([replace(labelled, conversation=replace(row, unlabelled=row.R))], Watch())
    assert list(live_counters.now().means) == ["SRR", "N"]
    passed([labelled], Watch())
    assert list(live_counters.now().means) == ["CG", "DCG", "RAG", "SRE", "SRR", "N"]


def codes():
    return [warning.code for warning in live_counters.now().warnings]


@pytest.mark.usefixtures("begun")
def test_the_data_so_far_are_warned_of():
    """Nothing of a conversation that no mean takes in."""
    passed([score("a", NOON)], Watch())
    assert codes() == []
    passed([score("b", 1_740_916, rejected=1)], Watch())
    assert codes() == []
    passed([score("c", 1_740_916, gain=None)], Watch())
    assert codes() == ["few_labels", "odd_times"]


@pytest.mark.usefixtures("begun")
def test_rows_in_files_add_to_those_of_earlier_starts():
    live_counters.written("late", [{}, {}])
    live_counters.written("iterations", [{}])
    assert live_counters.now().totals == StreamTotals(scored=5, conversations=2, late=2)


def test_a_worker_elsewhere_counts_nothing():
    assert passed(CAME, Watch()) == CAME
    live_counters.written("late", [{}])
    assert live_counters.now().read == live_counters.now().totals.late == 0
