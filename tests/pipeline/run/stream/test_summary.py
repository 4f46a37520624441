"""The outcome of a stream."""

from types import SimpleNamespace

import pytest

import goodgain as gg
from goodgain.pipeline.run.stream import summary
from goodgain.pipeline.run.stream.live_counters import LiveCounters, StreamTotals
from goodgain.pipeline.run.stream.summary import without_means
from goodgain.transforms.core.errors import BalanceError

DAY = 86_400_000


@pytest.fixture(scope="module")
def means():
    calls = [
        {
            "conversation_id": f"c-{at}",
            "iteration": 1,
            "attributes": {"query_id": f"q{at // 2}"},
            "results": [{"id": "a", "gain": 2 + at % 3}],
        }
        for at in range(6)
    ]
    rows = gg.evaluate(calls, cluster="query_id").means.stored()
    window = {"window_start": 20 * DAY, "window_end": 21 * DAY, "is_last": True}
    return [row | window for row in rows]


def test_conversations_without_means_are_counted(means):
    """Two windows have 6 conversations each, with undefined gains in one of them."""
    later = [
        row | {"window_start": 21 * DAY} | ({"n": 4, "undefined": 2} if row["n"] else {})
        for row in means
    ]
    assert without_means([*means, *later], 15) == 3
    assert without_means([*means, *later], 12) == without_means([], 0) == 0


def test_facts_are_the_latest_means_and_the_balance(means, monkeypatch):
    monkeypatch.setattr(summary, "latest_means", lambda _: means)
    monkeypatch.setattr(summary, "latest_warnings", lambda _: [])
    totals = StreamTotals(scored=7, late=2, conversations=6, in_means=6)
    now = LiveCounters(12, 9, 1, 6, 2, 0, 0, {}, totals)
    facts = summary.facts_of("out", now)
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
    }
    assert facts["conversations"]["closed"] == 6


def test_a_loss_is_an_error_whatever_is_printed():
    journal = SimpleNamespace(totals=lambda: SimpleNamespace(records=5, changed=0), uncovered=False)
    with pytest.raises(BalanceError, match="5 records were read but 4 are accounted for"):
        summary.check_balance(
            LiveCounters(4, 4, 0, 0, 0, 0, 0, {}, StreamTotals(scored=4)), journal
        )
