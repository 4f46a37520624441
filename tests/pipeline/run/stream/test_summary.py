"""The text that a stream prints at its end."""

import json
import re
from io import StringIO
from types import SimpleNamespace

import pytest
from msgspec import structs
from rich.console import Console

import goodgain as gg
from goodgain.pipeline.run.stream import summary
from goodgain.pipeline.run.stream.live_counters import LiveCounters, StreamTotals
from goodgain.pipeline.run.stream.summary import print_means, without_means
from goodgain.transforms.core.errors import BalanceError
from goodgain.transforms.core.streaming.journal import Journal
from goodgain.transforms.core.warnings.warning import DataWarning

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


def summary_of(means, cluster, now=None):
    text = StringIO()
    print_means(Console(file=text, width=100), means, now, cluster)
    return " ".join(text.getvalue().split())


def test_clusters_and_cautions_are_printed_with_the_means(means):
    text = summary_of(means, "query_id")
    assert "Windows: 1 complete, 0 still open." in text
    assert "Gain per result (RAG): Stopping early raises it, so read it beside CG." in text
    headings, _, values = text.partition(" ---")
    assert "(SRE)" in headings
    assert re.search(r" 6 3\.000 .* 100 % +0 % ", values)
    assert "Clusters by query_id: 1970-01-21 00:00: 3." in text


def test_without_a_cluster_attribute_no_clusters_are_printed(means):
    assert "Clusters" not in summary_of(means, None)


def test_before_the_first_window_warnings_and_running_means_are_printed():
    warning = DataWarning("odd_times", 3, None, "3 records lie in 1970.", "Multiply them by 1,000.")
    now = LiveCounters(9, 9, 0, 5, 0, 0, 0, {"CG": 7.25}, StreamTotals(), [warning])
    text = summary_of([], None, now)
    assert text.startswith(
        "Warning (odd_times): 3 records lie in 1970. Multiply them by 1,000. mean so far Gain (CG)"
    )
    assert text.endswith(
        "Windows: none has means yet; these are over the conversations closed since this start."
    )


def test_conversations_of_earlier_starts_do_not_count_as_closed():
    now = LiveCounters(0, 0, 0, 0, 0, 0, 0, {}, StreamTotals(conversations=40))
    assert "no conversation that counts in them has closed since this start" in summary_of(
        [], None, now
    )


def test_conversations_without_means_are_counted(means):
    """Two windows have 6 conversations each, with undefined gains in one of them."""
    later = [
        row | {"window_start": 21 * DAY} | ({"n": 4, "undefined": 2} if row["n"] else {})
        for row in means
    ]
    assert without_means([*means, *later], 15) == 3
    assert without_means([*means, *later], 12) == without_means([], 0) == 0


def test_with_quiet_only_findings_are_printed_on_stderr(means, monkeypatch, capsys):
    warning = DataWarning("odd_times", 3, None, "3 records lie in 1970.", "Multiply them by 1,000.")
    now = LiveCounters(9, 9, 0, 5, 0, 0, 2, {"CG": 7.25}, StreamTotals(), [warning])
    row = {"window_start": 20 * DAY, **structs.asdict(warning), "code": "few_labels"}
    monkeypatch.setattr(summary, "latest_warnings", lambda _: [row])
    for rows, expected in ((means, "1970-01-21 00:00: Warning (few_labels)"), ([], "Warning (odd")):
        monkeypatch.setattr(summary, "latest_means", lambda _, rows=rows: rows)
        summary.print_findings(SimpleNamespace(output="out"), now, Journal())
        printed = capsys.readouterr()
        first, second = printed.err.splitlines()
        assert printed.out == ""
        assert first.startswith(expected)
        assert second.startswith("Note: 2 conversations closed after the last means")


def test_the_document_has_the_latest_means_and_the_balance_and_nothing_else(
    means, monkeypatch, capsys
):
    monkeypatch.setattr(summary, "latest_means", lambda _: means)
    monkeypatch.setattr(summary, "latest_warnings", lambda _: [])
    totals = StreamTotals(scored=7, late=2, conversations=6, in_means=6)
    now = LiveCounters(12, 9, 1, 6, 2, 0, 0, {}, totals)
    summary.print_document(SimpleNamespace(output="out"), now, Journal())
    document = json.loads(capsys.readouterr().out)
    assert document["output"] == "out"
    (gain,) = [
        row
        for row in document["means"]
        if (row["metric"], row["population"], row["slice"]) == ("CG", "all", {})
    ]
    assert (gain["mean"], gain["n"], gain["window_start"]) == (3.0, 6, 20 * DAY)
    assert {row["i"] for row in document["means"]} == {None}
    assert document["records"] == {
        "read": 12,
        "scored": 7,
        "earlier_turn": 0,
        "redelivered": 0,
        "rejected": 0,
        "late": 2,
        "open": 3,
    }
    assert document["conversations"]["closed"] == 6


def test_a_loss_is_an_error_whatever_is_printed():
    journal = SimpleNamespace(totals=lambda: SimpleNamespace(records=5, changed=0), uncovered=False)
    with pytest.raises(BalanceError, match="5 records were read but 4 are accounted for"):
        summary.check_balance(
            LiveCounters(4, 4, 0, 0, 0, 0, 0, {}, StreamTotals(scored=4)), journal
        )
