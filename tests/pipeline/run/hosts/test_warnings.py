"""Warnings about data that do not support the numbers, in every command (SPEC 10)."""

import json

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.data_warnings import slice_labels
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.folder import REPORT
from tests.pipeline.runs import manifest, rows, run, write_jsonl

NEEDS_LABELS = ("CG", "SRE", "iterations_for_all_good_results", "ndcg@10", "gauc")


def records(results, conversations=10, **more):
    """Conversations of two iterations, in which all results are different documents."""
    return [
        {
            "conversation_id": f"c{number}",
            "iteration": iteration,
            "results": [
                {"ids": {"doc_id": f"{number}-{iteration}-{place}"}, **result}
                for place, result in enumerate(results)
            ],
            **more,
        }
        for number in range(conversations)
        for iteration in (1, 2)
    ]


@pytest.fixture(scope="module")
def unlabelled(tmp_path_factory):
    """Traces with labels in a field of another name, the output of a run, and its exit code."""
    folder = tmp_path_factory.mktemp("unlabelled")
    traces = write_jsonl(folder / "a.jsonl", records([{"relevance": gain} for gain in range(5)]))
    return traces, folder / "out", run(folder / "out", [traces])


def codes(output):
    return [warning["code"] for warning in manifest(output)["warnings"]]


def at_end(output, slice_=None):
    return {
        row["metric"]: row
        for row in rows(output, "means")
        if row["i"] is None and row["slice"] == (slice_ or {}) and row["population"] == "all"
    }


def test_labels_under_another_name_give_exit_code_3_and_null_means(unlabelled):
    _, output, code = unlabelled
    assert code == 3
    assert codes(output) == ["no_labels", "unknown_fields"]
    means = at_end(output)
    for name in NEEDS_LABELS:
        row = means[name]
        assert (row["mean"], row["n"], row["undefined"]) == (None, 0, 10), name
        assert row["note"] == "no result has a label"
    assert (means["R"]["mean"], means["SRR"]["mean"], means["unlabelled"]["mean"]) == (10, 0, 10)
    by_i = [row for row in rows(output, "means") if row["metric"] == "CG_at_i"]
    assert {(row["mean"], row["note"]) for row in by_i} == {(None, "no result has a label")}
    # Rows of single conversations keep their definition: without labels there is no gain.
    assert {row["CG"] for row in rows(output, "conversations")} == {0}


def test_report_shows_the_warning_before_any_number(unlabelled):
    _, output, _ = unlabelled
    page = (output / REPORT).read_text()
    assert page.index("None of the 100 results") < page.index('id="headline"')
    assert "--map</span> gain=relevance" in page


@pytest.mark.slow
def test_following_the_advice_removes_the_warning(unlabelled, tmp_path, capsys):
    traces, _, _ = unlabelled
    assert run(tmp_path / "out", [traces], "--map", "gain=relevance") == 0
    assert codes(tmp_path / "out") == []
    assert at_end(tmp_path / "out")["CG"]["mean"] == 18
    assert "Warning" not in capsys.readouterr().out


def test_warns_of_traces_without_results(tmp_path, capsys):
    traces = write_jsonl(
        tmp_path / "in.jsonl", [{"conversation_id": "c", "iteration": at} for at in (1, 2)]
    )
    assert run(tmp_path / "out", [traces]) == ExitCode.DATA_QUALITY
    assert codes(tmp_path / "out") == ["no_results"]
    assert "The 2 records have no result in any scored turn" in capsys.readouterr().out
    assert run(tmp_path / "out", [traces], "--overwrite", "--allow-unlabelled") == ExitCode.DONE
    with open(traces, "a", encoding="utf-8") as file:
        file.write("{}\n")
    assert run(tmp_path / "out", [traces], "--overwrite") == ExitCode.DATA_QUALITY
    assert "The 2 records that were not rejected have no result" in capsys.readouterr().out


@pytest.mark.slow
def test_a_file_in_long_form_is_told_how_to_be_converted(tmp_path, capsys, monkeypatch):
    """Each record is one result with the fields of its search call; the advice works as it is."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"conversation_id": "c", "iteration": iteration, "id": id_, "gain": gain}
        for iteration, id_, gain in [(1, "a", 3), (1, "b", 0), (2, "c", 2)]
    ]
    traces = write_jsonl(tmp_path / "in.jsonl", rows)
    assert run(tmp_path / "out", [traces]) == ExitCode.DATA_QUALITY
    printed = capsys.readouterr().out
    assert "The records themselves have fields of results (gain, id)." in printed
    command = printed.partition("convert them first: goodgain ")[2].partition(";")[0]
    assert main(command.replace("FILE", str(traces)).split()) == ExitCode.DONE
    assert run(tmp_path / "out", [tmp_path / "traces.jsonl"], "--overwrite") == ExitCode.DONE
    assert at_end(tmp_path / "out")["CG"]["mean"] == 5


@pytest.mark.slow
def test_allow_unlabelled_gives_exit_code_0_and_still_warns(unlabelled, tmp_path, capsys):
    traces, _, _ = unlabelled
    assert run(tmp_path / "out", [traces], "--allow-unlabelled") == 0
    assert codes(tmp_path / "out") == ["no_labels", "unknown_fields"]
    printed = capsys.readouterr().out
    assert printed.index("Warning (no_labels)") < printed.index("metric")


@pytest.mark.parametrize(
    ("rules", "code", "message"),
    [
        ("warnings: none\n", 4, "no_labels"),
        ("warnings: [odd_times]\nrules: ['conversations >= 1']\n", 0, "passed"),
        ("warnings: no_labels\n", 4, "no_labels"),
        ("warnings: [no_labls]\n", 2, "did you mean no_labels?"),
        ("rules: []\n", 2, "warnings: none"),
    ],
)
def test_a_gate_can_forbid_warnings(unlabelled, tmp_path, capsys, rules, code, message):
    (tmp_path / "gate.yaml").write_text(rules)
    words = ["gate", str(unlabelled[1]), "--config", str(tmp_path / "gate.yaml")]
    assert main(words) == code
    captured = capsys.readouterr()
    assert message in captured.out + captured.err


def test_metrics_without_labels_fail_a_gate(unlabelled, tmp_path):
    (tmp_path / "gate.yaml").write_text("rules: ['SRE >= 0', 'CG >= 0']\n")
    assert main(["gate", str(unlabelled[1]), "--config", str(tmp_path / "gate.yaml")]) == 4


@pytest.mark.slow
def test_warns_if_all_labels_are_below_the_threshold(tmp_path, capsys):
    traces = write_jsonl(tmp_path / "a.jsonl", records([{"gain": 0}, {"gain": 1}]))
    assert run(tmp_path / "out", [traces]) == 3
    assert codes(tmp_path / "out") == ["labels_below_threshold"]
    assert "The exit code is 3." in capsys.readouterr().out
    assert run(tmp_path / "out", [traces], "--allow-no-good", "--overwrite") == 0
    assert run(tmp_path / "out", [traces], "--good-gain-threshold", "1", "--overwrite") == 0
    assert codes(tmp_path / "out") == []


@pytest.mark.slow
def test_only_slices_without_labels_have_null_means(tmp_path):
    traces = write_jsonl(
        tmp_path / "a.jsonl",
        [
            {
                **record,
                "attributes": {"arm": arm},
                "conversation_id": record["conversation_id"] + arm,
            }
            for arm, gain in (("a", 3), ("b", None))
            for record in records([{"gain": gain}], conversations=3)
        ],
    )
    assert run(tmp_path / "out", [traces], "--slice", "arm") == 0
    assert codes(tmp_path / "out") == ["few_labels"]
    assert at_end(tmp_path / "out", {"arm": "a"})["CG"]["mean"] == 6
    bare = at_end(tmp_path / "out", {"arm": "b"})["CG"]
    assert (bare["mean"], bare["note"]) == (None, "no result has a label")
    assert at_end(tmp_path / "out")["CG"]["mean"] == 3


def test_numbers_of_labels_in_slices_are_rounded():
    """1 / 49 * 49 is a little less than 1."""
    shared = {"slice": {"arm": "a"}, "i": None, "n": 49}
    means = [{**shared, "metric": "R", "mean": 1 / 49}]
    means.append({**shared, "metric": "unlabelled", "mean": 1 / 49})
    (one,) = slice_labels(means)
    assert (one.results, one.unlabelled) == (1, 1)


@pytest.mark.slow
def test_warns_of_timestamps_in_the_future(tmp_path):
    traces = write_jsonl(
        tmp_path / "a.jsonl", records([{"gain": 3}], conversations=1, timestamp="2999-01-01T00:00Z")
    )
    assert run(tmp_path / "out", [traces]) == 0
    (one,) = manifest(tmp_path / "out")["warnings"]
    assert (one["code"], one["count"]) == ("odd_times", 2)
    assert manifest(tmp_path / "out")["started"][:10] in one["message"]


@pytest.mark.slow
def test_warnings_do_not_depend_on_the_number_of_files(tmp_path):
    parts = records([{"relevance": 1}, {"id": "g"}, {}], conversations=40, timestamp=1)
    one = write_jsonl(tmp_path / "all.jsonl", parts)
    several = [write_jsonl(tmp_path / f"{n}.jsonl", parts[n::3]) for n in range(3)]
    run(tmp_path / "one", [one])
    run(tmp_path / "three", several)
    assert manifest(tmp_path / "one")["warnings"] == manifest(tmp_path / "three")["warnings"]


@pytest.mark.slow
def test_comparison_names_the_run_with_the_warning(unlabelled, tmp_path, capsys):
    traces, output, _ = unlabelled
    run(tmp_path / "good", [traces], "--map", "gain=relevance")
    capsys.readouterr()
    words = ["compare", str(tmp_path / "good"), str(output), "--force"]
    main([*words, "--output", str(tmp_path / "cmp")])
    printed = capsys.readouterr().out
    assert "Candidate: Warning (no_labels)" in printed
    assert "Base: Warning" not in printed
    assert "Candidate: Warning (no_labels)" in (tmp_path / "cmp" / REPORT).read_text()
    main([*words, "--json"])
    found = json.loads(capsys.readouterr().out)
    warnings = found["candidate"]["warnings"]
    assert [warning["code"] for warning in warnings] == ["no_labels", "unknown_fields"]


@pytest.mark.slow
def test_mapping_in_a_configuration_is_that_of_the_option(unlabelled, tmp_path):
    (tmp_path / "run.yaml").write_text("mapping:\n  gain: relevance\n")
    assert run(tmp_path / "out", [unlabelled[0]], "--config", str(tmp_path / "run.yaml")) == 0
    assert manifest(tmp_path / "out")["parameters"]["mapping"] == ["gain=relevance"]


@pytest.mark.slow
def test_suggests_the_intended_mapping(unlabelled, tmp_path, capsys):
    assert run(tmp_path / "out", [unlabelled[0]], "--map", "relevance=gain") == 2
    assert "did you mean gain=relevance?" in capsys.readouterr().err
    assert run(tmp_path / "out", [unlabelled[0]], "--map", "gain=relevanse", "--overwrite") == 3
    assert "none of the first records has: relevanse" in capsys.readouterr().out


@pytest.mark.slow
def test_conversations_without_the_topic_of_the_judgments_are_said_once(tmp_path, capsys):
    traces = records([{}], conversations=2, attributes={"query_id": "q"})
    del traces[1]["attributes"], traces[2]["attributes"], traces[3]["attributes"]
    (tmp_path / "qrels.txt").write_text("q 0 0-1-0 3\nq 0 1-1-0 3\nq 0 1-2-0 3\n")
    words = ["--qrels", str(tmp_path / "qrels.txt"), "--qrels-topic", "query_id"]
    assert run(tmp_path / "out", [write_jsonl(tmp_path / "a.jsonl", traces)], *words) == 0
    assert codes(tmp_path / "out") == ["conversations_without_topic", "few_labels"]
    printed = capsys.readouterr().out
    assert "1 of 2 conversations (50.0 %) has no attribute query_id" in " ".join(printed.split())
    assert "Not joined" not in printed
    assert "has no attribute query_id" in (tmp_path / "out" / REPORT).read_text()
