"""The summary that a run prints at its end."""

import re
import shutil

import pytest

import goodgain as gg
from goodgain.pipeline.document.numbers import mean_interval_text, value_text
from goodgain.pipeline.results.finished_run import read_run
from goodgain.pipeline.views.pages.run import build_report
from goodgain.pipeline.views.run import print_summary
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.headline import shorten_table
from tests.pipeline.runs import SAMPLE, rows, run

pytestmark = pytest.mark.slow
HEADLINE = ("CG", "DCG", "RAG", "DRAG", "SRE", "SRR", "iterations_for_all_good_results", "N")


def label(name):
    return metric_by_name(name).label


def on_one_line(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    output = tmp_path_factory.mktemp("summary") / "out"
    assert run(output, [SAMPLE]) == 0
    return output


@pytest.fixture
def printed(output, capsys):
    print_summary(str(output), read_run(str(output)))
    return capsys.readouterr().out


def shown_means(printed):
    """The numbers of the table of means, by the label of the metric."""
    shown = {}
    lines = printed[printed.index("metric ") :].split("\n\n")[0].splitlines()[2:]
    for line in lines:
        label, *numbers = re.split(" {2,}", line.strip())
        shown[label] = numbers
    return shown


def test_the_table_is_short_and_has_intervals_and_n(printed, output):
    means = {
        row["metric"]: row
        for row in rows(output, "means")
        if row["i"] is None and row["population"] == "all"
    }
    shown = shown_means(printed)
    assert list(shown) == list(map(label, HEADLINE))
    for name in HEADLINE:
        mean, interval, median, n = shown[label(name)]
        row = means[name]
        assert mean == value_text(name, row["mean"])
        assert interval == mean_interval_text(name, row["ci_low"], row["ci_high"])
        assert (median, n) == (value_text(name, row["p50"]), f"{row['n']:,}")
        if row["undefined"]:
            assert f"{label(name)} ({row['undefined']:,})" in printed
    known = {name for name, row in means.items() if row["mean"] is not None}
    further = len(known.difference(HEADLINE))
    assert f"The means of {further} more metrics are in the dataset `means`" in printed


def test_what_was_asked_for_follows_the_headline(tmp_path, capsys):
    summary = summary_of([call("a", [4]), call("b", [0, 2])], tmp_path, capsys, metrics="ndcg@3")
    *headline, asked_for = shown_means(summary)
    assert headline == list(map(label, HEADLINE))
    assert asked_for == "Normalised discounted gain (ndcg@3) (own ideal)"
    assert "own ideal: the ideal list has only what this run found" in summary


def test_the_headline_has_eight_metrics_whatever_the_data_have(tmp_path, capsys):
    search = call("a", [4, 2], outcomes={"correct": 1.0, "rating": 3.5})
    used = {"iteration": 1, "conversation_id": "a", "results": search["results"]}
    calls = [search, {**used, "action": "open"}, {**used, "action": "cite"}]
    *headline, asked_for = shown_means(summary_of(calls, tmp_path, capsys, metrics="mrr"))
    names = (
        "CG", "SRE", "SRR", "open_recall", "cite_recall", "outcome.correct", "outcome.rating", "N",
    )  # fmt: skip
    assert headline == list(map(label, names))
    assert asked_for.startswith("Mean reciprocal rank (mrr)")


@pytest.mark.parametrize(
    ("further", "gone"),
    [
        ((), set()),
        (("outcome.correct",), {"DRAG"}),
        (("aspects", "aspect_recall"), {"DRAG", "DCG"}),
        (
            ("open_recall", "cite_recall", "outcome.correct"),
            {"DRAG", "DCG", "iterations_for_all_good_results"},
        ),
    ],
)
def test_what_only_some_data_have_takes_the_place_of_near_repetitions(further, gone):
    shown = shorten_table([*HEADLINE, *further])
    assert shown == tuple(name for name in (*HEADLINE, *further) if name not in gone)


def test_more_outcomes_than_the_table_has_lines_leave_gain_in_it():
    outcomes = [f"outcome.grade_{number}" for number in range(9)]
    assert shorten_table(["CG", "RAG", "SRE", *outcomes]) == ("CG", "SRE", *outcomes[:6])


def test_a_mean_over_less_than_half_says_so_where_it_stands(tmp_path, capsys):
    found = [call(f"a{at}", [4]) for at in range(4)]
    calls = [*found, *(call(f"b{at}", [0]) for at in range(6))]
    summary = summary_of(calls, tmp_path / "out", capsys, metrics="map")
    assert "Mean average precision (map) (own ideal) 1.000 over only 4 of 10 -" in on_one_line(
        summary
    )
    run = gg.evaluate(calls, metrics="map")
    assert "1.000 over only 4 of 10" in on_one_line(repr(run))
    assert "1.000 over only 4 of 10" in run._repr_html_()
    assert "over only" not in repr(gg.evaluate([*found, *calls[4:8]], metrics="map"))


def test_without_labels_it_says_what_can_be_said(tmp_path, capsys):
    calls = [call("a", [None, None]), call("b", [None])]
    summary = summary_of(calls, tmp_path / "out", capsys)
    known = ("N", "calls", "R", "UR", "DupR", "SRR", "queries_repeated")
    assert list(shown_means(summary)) == list(map(label, known))
    written = {
        row["metric"]
        for row in rows(tmp_path / "out", "means")
        if row["i"] is None and row["population"] == "all" and row["mean"] is not None
    }
    further = len(written.difference(known))
    assert further
    assert f"The means of {further} more metrics are in the dataset `means`" in summary
    assert "No result has a label, so gain and " in summary
    assert summary.count("(CG)") == 0


def test_metrics_have_plain_names(printed):
    assert "\nGain per result (RAG) " in printed
    assert "\nGood and new results (SRE) " in printed


def test_names_and_lines_are_complete_without_a_terminal(printed):
    assert "\nIterations for all good results " in printed
    (records,) = (line for line in printed.splitlines() if line.startswith("Records:"))
    assert records.endswith("late.")


def test_counts_of_excluded_conversations_add_up(printed):
    assert (
        "Conversations: 60, of which 57 in the means; excluded: 1 without search, 2 "
        "with rejected records." in printed
    )


def test_lists_rejected_records(printed, output):
    for row in rows(output, "rejected"):
        assert f"  {row['source']}, {row['position']}: {row['reason']}" in printed


def test_names_the_output_folder(printed, output):
    (line,) = (line for line in printed.splitlines() if line.startswith("Outputs:"))
    assert str(output) in line


def test_conversations_are_read_for_the_page_only(tmp_path, capsys):
    assert run(tmp_path / "out", [SAMPLE]) == 0
    expected = capsys.readouterr().out
    highlights = build_report(str(tmp_path / "out")).highlights
    shutil.rmtree(tmp_path / "out" / "conversations")
    print_summary(str(tmp_path / "out"), read_run(str(tmp_path / "out")), highlights)
    assert "Worth looking at:" in expected
    assert capsys.readouterr().out == expected


def test_names_slice_attributes_that_no_conversation_has(tmp_path, capsys):
    assert run(tmp_path / "out", [SAMPLE], "--slice", "marekt,arm", "--slice", "market") == 0
    summary = capsys.readouterr().out
    assert "no conversation has the attribute marekt" in summary
    assert "the attribute market" not in summary
    assert "the attribute arm" not in summary


def summary_of(calls, folder, capsys, **options):
    """The summary of an evaluation of `calls`."""
    found = gg.evaluate(calls, **options)
    found.save(folder)
    print_summary(str(folder), found.manifest)
    return capsys.readouterr().out


def call(identity, gains, query="q", **more):
    results = [{"id": f"{identity}-{at}", "gain": gain} for at, gain in enumerate(gains)]
    attributes = {"query_id": query}
    return {
        "conversation_id": identity, "iteration": 1, "attributes": attributes, "results": results,
    } | more  # fmt: skip


def test_intervals_are_clipped_to_the_range_of_the_metric(tmp_path, capsys):
    calls = [call("a", [4, 0, 0]), call("b", [0, 0, 2]), call("c", [0, 4, 0])]
    summary = summary_of(calls, tmp_path / "out", capsys, metrics="auc")
    written = {row["metric"]: row for row in rows(tmp_path / "out", "means") if row["i"] is None}
    assert written["auc"]["ci_low"] < 0
    assert written["auc"]["ci_high"] > 1
    assert re.search(r"\nArea under the ROC curve \(auc\) +0\.500 +0\.\.1\.000 ", summary)
    report = (tmp_path / "out" / "report.html").read_text()
    assert "0..1.000" in report


def test_intervals_of_outcomes_that_are_0_or_1_are_clipped_with_clusters_too(tmp_path, capsys):
    calls = [
        call(f"c{at}", [at % 4], query=f"q{at % 6}", outcomes={"right": float(at % 6 == 0)})
        for at in range(30)
    ]
    summary = summary_of(calls, tmp_path / "out", capsys, cluster="query_id")
    written = {row["metric"]: row for row in rows(tmp_path / "out", "means") if row["i"] is None}
    assert written["outcome.right"]["ci_low"] < 0
    assert re.search(r"\nOutcome right \(outcome\.right\) +0\.167 +0\.\.0\.595 ", summary)
    report = (tmp_path / "out" / "report.html").read_text()
    assert "0..0.595" in report
    assert "-0.26" not in report


def test_explains_missing_intervals(tmp_path, capsys):
    summary = summary_of([call("a", [4]), call("b", [4])], tmp_path / "out", capsys)
    assert re.search(r"\nGain \(CG\) +4\.000 +- ", summary)
    assert re.search(r"\nNo interval: Gain \(CG\), .*: no value differs\.\n", summary)


def test_shows_means_with_conversations_that_did_not_search(tmp_path, capsys):
    calls = [call("a", [4]), call("b", [2]), call("c", [4], turn_count=2)]
    summary = summary_of(calls, tmp_path / "out", capsys)
    assert "with gain 0 (population everyone): Gain (CG) 2.000 (0.." in summary
    report = (tmp_path / "out" / "report.html").read_text()
    assert "With the 1 conversation that did not search" in report
    assert "those that did not search with gain 0" in report


def test_omits_the_extra_means_if_all_conversations_searched(printed, tmp_path, capsys):
    summary = summary_of([call("a", [4]), call("b", [2])], tmp_path / "out", capsys)
    assert "everyone" not in summary
    assert "with gain 0</caption>" not in (tmp_path / "out" / "report.html").read_text()


def test_explains_a_negative_share_between_clusters(tmp_path, capsys):
    """Repeats of a query differ more than queries do: one finds much, the other little."""
    calls = [
        call(f"{query}{at}", [gain], query) for query in "abcd" for at, gain in enumerate((4, 2))
    ] + [call("e0", [4], "e"), call("e1", [4], "e")]
    summary = summary_of(calls, tmp_path / "out", capsys, cluster="query_id")
    assert re.search(r"\nGain \(CG\) +5 +-[0-9.]+ %", summary)
    assert "Below 0 %: conversations with the same query_id differ as much as any others" in summary
