"""Numbers that look right and are not: what a user sees of them, command by command (SPEC 10)."""

import json
import os

import pytest

import goodgain
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.data_warnings import slice_labels
from goodgain.pipeline.exit_codes import ExitCode
from goodgain.pipeline.first_look import first_look
from goodgain.pipeline.local import open_local
from goodgain.pipeline.outputs.folder import REPORT
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.warnings.names import SeenNames
from tests.pipeline.runs import manifest, rows, run, write_jsonl

NEEDS_LABELS = ("CG", "SRE", "iterations_for_all_good_results", "ndcg@10", "gauc")


def records(results, conversations=10, **more):
    """Conversations of two iterations, each with results that are documents of their own."""
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
    """A run whose labels stand in a field of another name."""
    folder = tmp_path_factory.mktemp("unlabelled")
    traces = write_jsonl(folder / "a.jsonl", records([{"relevance": gain} for gain in range(5)]))
    return traces, folder / "out", run(folder / "out", [traces])


def codes(output):
    return [one["code"] for one in manifest(output)["warnings"]]


def at_end(output, slice_=None):
    return {
        row["metric"]: row
        for row in rows(output, "means")
        if row["i"] is None and row["slice"] == (slice_ or {}) and row["population"] == "all"
    }


def test_labels_under_another_name_end_with_3_and_null_means(unlabelled):
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
    # Rows stay as they are defined.
    assert {row["CG"] for row in rows(output, "conversations")} == {0}


def test_the_report_says_it_before_any_number(unlabelled):
    _, output, _ = unlabelled
    page = (output / REPORT).read_text()
    assert page.index("None of the 100 results") < page.index('id="headline"')
    assert "--map gain=relevance" in page


@pytest.mark.slow
def test_what_the_warning_advises_helps(unlabelled, tmp_path, capsys):
    traces, _, _ = unlabelled
    assert run(tmp_path / "out", [traces], "--map", "gain=relevance") == 0
    assert codes(tmp_path / "out") == []
    assert at_end(tmp_path / "out")["CG"]["mean"] == 18
    assert "Warning" not in capsys.readouterr().out


def test_traces_without_results_are_not_bad_results(tmp_path, capsys):
    traces = write_jsonl(
        tmp_path / "in.jsonl", [{"conversation_id": "c", "iteration": at} for at in (1, 2)]
    )
    assert run(tmp_path / "out", [traces]) == ExitCode.DATA_QUALITY
    assert codes(tmp_path / "out") == ["no_results"]
    assert "The 2 records have no result in any scored turn" in capsys.readouterr().out
    assert run(tmp_path / "out", [traces], "--overwrite", "--allow-unlabelled") == ExitCode.DONE


@pytest.mark.slow
def test_a_user_may_accept_it(unlabelled, tmp_path, capsys):
    traces, _, _ = unlabelled
    assert run(tmp_path / "out", [traces], "--allow-unlabelled") == 0
    assert codes(tmp_path / "out") == ["no_labels", "unknown_fields"]
    told = capsys.readouterr().out
    assert told.index("Warning (no_labels)") < told.index("metric")


@pytest.mark.parametrize(
    ("asked", "code", "told"),
    [
        ("warnings: none\n", 4, "no_labels"),
        ("warnings: [odd_times]\nrules: ['conversations >= 1']\n", 0, "passed"),
        ("warnings: no_labels\n", 4, "no_labels"),
        ("warnings: [no_labls]\n", 2, "did you mean no_labels?"),
        ("rules: []\n", 2, "warnings: none"),
    ],
)
def test_a_gate_can_forbid_warnings(unlabelled, tmp_path, capsys, asked, code, told):
    (tmp_path / "gate.yaml").write_text(asked)
    words = ["gate", str(unlabelled[1]), "--config", str(tmp_path / "gate.yaml")]
    assert main(words) == code
    captured = capsys.readouterr()
    assert told in captured.out + captured.err


def test_no_gain_passes_a_gate_because_nothing_was_labelled(unlabelled, tmp_path):
    (tmp_path / "gate.yaml").write_text("rules: ['SRE >= 0', 'CG >= 0']\n")
    assert main(["gate", str(unlabelled[1]), "--config", str(tmp_path / "gate.yaml")]) == 4


@pytest.mark.slow
def test_labels_below_the_threshold(tmp_path, capsys):
    traces = write_jsonl(tmp_path / "a.jsonl", records([{"gain": 0}, {"gain": 1}]))
    assert run(tmp_path / "out", [traces]) == 3
    assert codes(tmp_path / "out") == ["labels_below_threshold"]
    assert "The exit code is 3." in capsys.readouterr().out
    assert run(tmp_path / "out", [traces], "--allow-no-good", "--overwrite") == 0
    assert run(tmp_path / "out", [traces], "--good-gain-threshold", "1", "--overwrite") == 0
    assert codes(tmp_path / "out") == []


@pytest.mark.slow
def test_a_slice_without_labels_is_null_and_the_others_are_not(tmp_path):
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


def test_labels_of_slices_are_whole_numbers_again():
    """1 / 49 * 49 is a little less than 1."""
    shared = {"slice": {"arm": "a"}, "i": None, "n": 49}
    means = [{**shared, "metric": "R", "mean": 1 / 49}]
    means.append({**shared, "metric": "unlabelled", "mean": 1 / 49})
    (one,) = slice_labels(means)
    assert (one.results, one.unlabelled) == (1, 1)


@pytest.mark.slow
def test_seconds_read_as_milliseconds(tmp_path, capsys):
    traces = write_jsonl(
        tmp_path / "a.jsonl", records([{"gain": 3}], conversations=1, timestamp=1_700_000_000)
    )
    assert run(tmp_path / "out", [traces]) == 0
    assert codes(tmp_path / "out") == ["odd_times"]
    assert "look like seconds" in capsys.readouterr().out


@pytest.mark.slow
def test_a_day_ahead_of_the_clock(tmp_path):
    traces = write_jsonl(
        tmp_path / "a.jsonl", records([{"gain": 3}], conversations=1, timestamp="2999-01-01T00:00Z")
    )
    assert run(tmp_path / "out", [traces]) == 0
    (one,) = manifest(tmp_path / "out")["warnings"]
    assert (one["code"], one["count"]) == ("odd_times", 2)
    assert manifest(tmp_path / "out")["started"][:10] in one["message"]


@pytest.mark.slow
def test_no_record_at_all(tmp_path):
    assert run(tmp_path / "out", [write_jsonl(tmp_path / "a.jsonl", [])], "--allow-unlabelled") == 3
    assert codes(tmp_path / "out") == ["empty_input"]


@pytest.mark.slow
def test_equal_ids_that_no_rules_name_are_one_document(tmp_path):
    result = {"ids": {"chunk_id": "A"}, "gain": 3}
    traces = [{"conversation_id": "c", "iteration": i, "results": [result]} for i in (1, 2)]
    assert run(tmp_path / "out", [write_jsonl(tmp_path / "a.jsonl", traces)]) == 0
    (row,) = rows(tmp_path / "out", "conversations")
    assert (row["UR"], row["DupR"], row["CG"]) == (1, 1, 3)


@pytest.mark.slow
def test_several_workers_and_shards_warn_alike(tmp_path):
    parts = records([{"relevance": 1}, {"id": "g"}, {}], conversations=40, timestamp=1)
    one = write_jsonl(tmp_path / "all.jsonl", parts)
    several = [write_jsonl(tmp_path / f"{n}.jsonl", parts[n::3]) for n in range(3)]
    run(tmp_path / "one", [one])
    run(tmp_path / "three", several)
    assert manifest(tmp_path / "one")["warnings"] == manifest(tmp_path / "three")["warnings"]


@pytest.mark.slow
def test_a_comparison_tells_whose_data_are_odd(unlabelled, tmp_path, capsys):
    traces, output, _ = unlabelled
    run(tmp_path / "good", [traces], "--map", "gain=relevance")
    capsys.readouterr()
    words = ["compare", str(tmp_path / "good"), str(output), "--force"]
    main([*words, "--output", str(tmp_path / "cmp")])
    told = capsys.readouterr().out
    assert "Candidate: Warning (no_labels)" in told
    assert "Base: Warning" not in told
    assert "Candidate <code>no_labels" in (tmp_path / "cmp" / REPORT).read_text()
    main([*words, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert [one["code"] for one in told["candidate"]["warnings"]] == ["no_labels", "unknown_fields"]


def test_an_evaluation_in_python_says_it_too(tmp_path):
    found = goodgain.evaluate(records([{"relevance": 3}]), mapping={"gain": "relevance"})
    assert found.manifest["warnings"] == []
    bare = goodgain.evaluate(write_jsonl(tmp_path / "a.jsonl", records([{"relevance": 3}])))
    assert [one["code"] for one in bare.manifest["warnings"]] == ["no_labels", "unknown_fields"]
    assert "Warning (no_labels)" in repr(bare)


@pytest.mark.slow
def test_a_mapping_of_a_configuration_is_that_of_the_command_line(unlabelled, tmp_path):
    (tmp_path / "run.yaml").write_text("mapping:\n  gain: relevance\n")
    assert run(tmp_path / "out", [unlabelled[0]], "--config", str(tmp_path / "run.yaml")) == 0
    assert manifest(tmp_path / "out")["parameters"]["mapping"] == ["gain=relevance"]


@pytest.mark.slow
def test_a_mistake_in_a_mapping_is_answered_with_what_is_meant(unlabelled, tmp_path, capsys):
    assert run(tmp_path / "out", [unlabelled[0]], "--map", "relevance=gain") == 2
    assert "did you mean gain=relevance?" in capsys.readouterr().err
    assert run(tmp_path / "out", [unlabelled[0]], "--map", "gain=relevanse", "--overwrite") == 3
    assert "none of the first records has: relevanse" in capsys.readouterr().out


def test_pipes_are_not_looked_into(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert first_look([InputFile(str(tmp_path / "pipe"), 0)], open_local) == SeenNames()


def test_of_many_files_some_are_looked_into(tmp_path, monkeypatch):
    monkeypatch.setattr("goodgain.pipeline.first_look._MOST_FILES", 20)
    files = []
    for number in range(50):
        path = write_jsonl(tmp_path / f"{number:02}.jsonl", [{f"field{number}": 1}])
        files.append(InputFile(path, os.path.getsize(path)))
    seen = first_look(files, open_local)
    assert len(seen.call) == 20
    assert {"field0", "field49"} <= seen.call
