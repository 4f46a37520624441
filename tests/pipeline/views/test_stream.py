"""The text that a stream prints at its end."""

import re

import pytest
from msgspec import structs

from goodgain.pipeline.document.model import document
from goodgain.pipeline.document.terminal import text_of
from goodgain.pipeline.run.stream.stream_counts import StreamCounts
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.pipeline.views import stream
from goodgain.pipeline.views.stream import means_part
from goodgain.transforms.core.warnings.warning import DataWarning
from tests.pipeline.run.stream.rows import DAY, window_means

CONFIG = load_config(StreamConfig, {"input": "in", "output": "out"})


@pytest.fixture(scope="module")
def means():
    return window_means()


def summary_of(means, now=None, **options):
    config = load_config(StreamConfig, {"input": "in", "output": "out", **options})
    return " ".join(text_of(document(means_part(means, now, config))).split())


def test_clusters_and_cautions_are_printed_with_the_means(means):
    text = summary_of(means, cluster="query_id")
    assert "Windows: 1 complete, 0 still open." in text
    assert "Gain per result (RAG): Stopping early raises it, so read it beside CG." in text
    headings, _, values = text.partition(" ---")
    assert "(SRE)" in headings
    assert re.search(r" 6 3\.000 .* 100 % +0 % ", values)
    assert "Clusters by query_id: 1970-01-21 00:00: 3." in text


def test_without_a_cluster_attribute_no_clusters_are_printed(means):
    assert "Clusters" not in summary_of(means)


def test_metrics_that_were_asked_for_stand_beside_the_headline(means):
    asked = ["CG", "err@10", "ndcg@10"]
    without = [row | {"undefined": 2} if row["metric"] == "err@10" else row for row in means]
    earlier = [row | {"window_start": 0} for row in means if row["metric"] != "ndcg@10"]
    text = summary_of([*earlier, *without], metrics=asked)
    headings, _, values = text.partition(" ---")
    assert headings.endswith("(N) (err@10) (ndcg@10)")
    assert headings.count("(CG)") == 1
    assert re.search(r"1970-01-01 00:00 6 .* 1970-01-21 00:00 6 ", values)
    assert "Conversations without a value: Expected reciprocal rank (err@10) (2)." in text
    assert "gain (ndcg@10): the ideal list has only what this stream found" in text
    assert "ndcg@10" not in summary_of(means)


def test_before_the_first_window_warnings_and_running_means_are_printed():
    warning = DataWarning("odd_times", 3, None, "3 records lie in 1970.", "Multiply them by 1,000.")
    now = StreamCounts(read=9, closed=5, means={"CG": 7.25}, warnings=[warning])
    text = summary_of([], now)
    assert text.startswith(
        "Warning (odd_times): 3 records lie in 1970. Multiply them by 1,000. mean so far Gain (CG)"
    )
    assert text.endswith(
        "Windows: none has means yet; these are over the conversations closed so far."
    )


def test_before_any_conversation_has_closed_there_are_no_means():
    text = summary_of([], StreamCounts(read=3))
    assert "no conversation that counts in them has closed." in text


def test_the_balance_and_how_to_go_on_are_printed(monkeypatch):
    monkeypatch.setattr(stream, "read_latest_means", lambda _: [])
    totals = {"records.scored": 7, "records.late": 2}
    counts = StreamCounts(13, 3, 1, totals=totals, watermark=21 * DAY + DAY // 2)
    text = " ".join(text_of(stream.stream_document(CONFIG, counts)).split())
    assert "Records: 13 read = 7 scored + 0 of earlier turns" in text
    assert "2 late + 3 still open + 1 of windows before --since." in text
    assert text.endswith(
        "Outputs: out; to go on from there, add --since 1970-01-22T00:00:00Z --overwrite."
    )


def test_with_quiet_only_findings_are_printed_on_stderr(means, monkeypatch, capsys):
    warning = DataWarning("odd_times", 3, None, "3 records lie in 1970.", "Multiply them by 1,000.")
    now = StreamCounts(read=9, closed=5, missed=2, means={"CG": 7.25}, warnings=[warning])
    row = {"window_start": 20 * DAY, **structs.asdict(warning), "code": "few_labels"}
    monkeypatch.setattr(stream, "read_latest_warnings", lambda _: [row])
    for rows, expected in ((means, "1970-01-21 00:00: Warning (few_labels)"), ([], "Warning (odd")):
        monkeypatch.setattr(stream, "read_latest_means", lambda _, rows=rows: rows)
        stream.print_findings(CONFIG, now)
        printed = capsys.readouterr()
        first, second = filter(None, printed.err.splitlines())
        assert printed.out == ""
        assert first.startswith(expected)
        assert second.startswith("Note: 2 conversations closed after the last means")
