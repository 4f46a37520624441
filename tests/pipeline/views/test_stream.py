"""The text that a stream prints at its end."""

import re
from types import SimpleNamespace

import pytest
from msgspec import structs

import goodgain as gg
from goodgain.pipeline.document.model import document
from goodgain.pipeline.document.terminal import text_of
from goodgain.pipeline.run.stream.live_counters import LiveCounters, StreamTotals
from goodgain.pipeline.views import stream
from goodgain.pipeline.views.stream import means_part
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
    return " ".join(text_of(document(means_part(means, now, cluster))).split())


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


def test_with_quiet_only_findings_are_printed_on_stderr(means, monkeypatch, capsys):
    warning = DataWarning("odd_times", 3, None, "3 records lie in 1970.", "Multiply them by 1,000.")
    now = LiveCounters(9, 9, 0, 5, 0, 0, 2, {"CG": 7.25}, StreamTotals(), [warning])
    row = {"window_start": 20 * DAY, **structs.asdict(warning), "code": "few_labels"}
    monkeypatch.setattr(stream, "latest_warnings", lambda _: [row])
    for rows, expected in ((means, "1970-01-21 00:00: Warning (few_labels)"), ([], "Warning (odd")):
        monkeypatch.setattr(stream, "latest_means", lambda _, rows=rows: rows)
        stream.print_findings(SimpleNamespace(output="out"), now, Journal())
        printed = capsys.readouterr()
        first, second = filter(None, printed.err.splitlines())
        assert printed.out == ""
        assert first.startswith(expected)
        assert second.startswith("Note: 2 conversations closed after the last means")
