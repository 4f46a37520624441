"""The summary that a run prints at its end."""

import re

import pytest

import goodgain as gg
from goodgain.pipeline.document.numbers import decimal
from goodgain.pipeline.views.pages.definitions import glossary_of
from goodgain.pipeline.views.run import print_summary
from goodgain.transforms.core.ranking import is_own_ideal
from goodgain.transforms.core.scoring.costs import cost_metric
from tests.pipeline.runs import SAMPLE, manifest, rows, run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    output = tmp_path_factory.mktemp("summary") / "out"
    assert run(output, [SAMPLE]) == 0
    return output


@pytest.fixture
def printed(output, capsys):
    print_summary(str(output), manifest(output))
    return capsys.readouterr().out


def test_means_have_intervals_and_n(printed, output):
    means = {
        row["metric"]: row
        for row in rows(output, "means")
        if row["i"] is None and row["population"] == "all"
    }
    assert printed.count(" (own ideal)") == len([name for name in means if is_own_ideal(name)]) > 0
    costs = dict.fromkeys(name for name in means if cost_metric(name))
    glossary = glossary_of(manifest(output), costs)
    names = {one.label: one.metric.name for one in glossary.at_end}
    lines = printed[printed.index("metric ") :].split("\n\n")[0].splitlines()[2:]
    labelled = []
    for line in lines:
        label, *numbers = re.split(" {2,}", line.strip())
        if numbers:
            labelled.append((label, numbers))
        else:  # the rest of a label that takes two lines
            labelled[-1] = (f"{labelled[-1][0]} {label}", labelled[-1][1])
    shown = {names[label]: numbers for label, numbers in labelled}
    assert shown.keys() > {"CG", "ndcg@10", "cost.usd", "CG_per.tokens", "CG_per_total.usd"}
    assert len(shown) == len(labelled) > 30
    for metric, (mean, interval, _, *counts) in shown.items():
        row = means[metric]
        form = "{:.2%}".format if metric in ("SRE", "SRR") else decimal
        assert mean.replace(" ", "") == form(row["mean"])
        assert counts == [str(row[part]) for part in ("n", "undefined") if row[part]]
        if row["ci_low"] is None:
            assert interval == "-"
        else:
            ends = (form(row[end]) for end in ("ci_low", "ci_high"))
            assert interval.replace(" %", "%") == " .. ".join(ends)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "2.0000"),
        (0.0123456, "0.0123"),
        (0.00123456, "0.001235"),
        (-0.0003, "-0.0003"),
        (1.25e-7, "1.25e-07"),
        (-1e-17, "0.0000"),
        (0.0, "0.0000"),
        (12345.5, "12345.5000"),
    ],
)
def test_small_numbers_keep_their_digits(value, text):
    assert decimal(value) == text


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
    assert re.search(r"\nArea under the ROC curve \(auc\) +0\.5000 +0\.0000 \.\. 1\.0000 ", summary)
    report = (tmp_path / "out" / "report.html").read_text()
    assert "0.000 to 1.000" in report


def test_explains_missing_intervals(tmp_path, capsys):
    summary = summary_of([call("a", [4]), call("b", [4])], tmp_path / "out", capsys)
    assert re.search(r"\nGain \(CG\) +4\.0000 +- ", summary)
    assert re.search(r"\nNo interval: Gain \(CG\), .*: no value differs\.\n", summary)


def test_shows_means_with_conversations_that_did_not_search(tmp_path, capsys):
    calls = [call("a", [4]), call("b", [2]), call("c", [4], turn_count=2)]
    summary = summary_of(calls, tmp_path / "out", capsys)
    assert "with gain 0 (population everyone): Gain (CG) 2.0000 (0.0000 .. " in summary
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
    assert re.search(r"\nGain \(CG\) +5 +-[0-9]+ %", summary)
    assert "Below 0 %: conversations with the same query_id differ as much as any others" in summary
