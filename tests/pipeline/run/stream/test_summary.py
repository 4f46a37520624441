"""The outcome of a stream."""

import pytest
from msgspec.structs import replace

from goodgain.pipeline.run.stream import summary
from goodgain.pipeline.run.stream.stream_counts import StreamCounts, check_balance
from goodgain.pipeline.run.stream.summary import count_without_means
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.errors import BalanceError
from tests.pipeline.run.stream.rows import DAY, window_means

MINUTE = 60_000
CONFIG = load_config(StreamConfig, {"input": "in", "output": "out"})


@pytest.fixture(scope="module")
def means():
    return window_means()


def test_conversations_without_means_are_counted(means):
    """Two windows have 6 conversations each, with undefined gains in one of them."""
    later = [
        row | {"window_start": 21 * DAY} | ({"n": 4, "undefined": 2} if row["n"] else {})
        for row in means
    ]
    assert count_without_means([*means, *later], 15) == 3
    assert count_without_means([*means, *later], 12) == count_without_means([], 0) == 0
    # With --since conversations of earlier windows do not count, so neither do their means.
    assert count_without_means([*means, *later], 8, since=21 * DAY) == 2


def test_facts_are_the_latest_means_and_the_balance(means, monkeypatch):
    monkeypatch.setattr(summary, "read_latest_means", lambda _: means)
    monkeypatch.setattr(summary, "read_latest_warnings", lambda _: [])
    totals = {
        "records.scored": 7,
        "records.late": 2,
        "conversations.total": 6,
        "conversations.in_means": 6,
    }
    watermark = 21 * DAY + 40 * MINUTE  # a window may change for 90 minutes after its end
    counts = StreamCounts(12, 3, open=1, closed=6, late=2, totals=totals, watermark=watermark)
    facts = summary.facts_of(CONFIG, counts)
    assert facts["output"] == "out"
    (gain,) = [
        row
        for row in facts["means"]
        if (row["metric"], row["population"], row["slice"]) == ("CG", "all", {})
    ]
    assert (gain["mean"], gain["n"], gain["window_start"]) == (3.0, 6, 20 * DAY)
    assert {row["i"] for row in facts["means"]} == {None}
    assert facts["records"] == {
        "read": 12,
        "scored": 7,
        "earlier_turn": 0,
        "redelivered": 0,
        "rejected": 0,
        "late": 2,
        "open": 3,
        "before_since": 0,
    }
    assert facts["continue_since"] == "1970-01-21T00:00:00Z"
    assert facts["conversations"]["closed"] == 6
    assert "outcome_rows" not in facts
    rows = {"read": 2, "joined": 1, "repeated": 0, "empty": 0, "rejected": 1}
    assert summary.facts_of(CONFIG, replace(counts, outcomes=rows))["outcome_rows"] == rows


def test_a_stream_goes_on_no_earlier_than_it_began():
    counts = StreamCounts(read=1, watermark=21 * DAY + DAY // 2)
    for since, later in ((20, "1970-01-22T00:00:00Z"), (30, "1970-01-31T00:00:00Z")):
        config = CONFIG.model_copy(update={"since": since * DAY})
        assert summary.continue_since(config, counts) == later


@pytest.mark.parametrize("written", [4, 6])
def test_rows_lost_or_written_twice_are_an_error(written):
    counts = StreamCounts(read=8, still_open=2, skipped=1, totals={"records.scored": written})
    with pytest.raises(BalanceError, match=f"8 records were read but {written + 3} are accounted"):
        check_balance(counts)
    check_balance(StreamCounts(read=8, still_open=2, skipped=1, totals={"records.late": 5}))
