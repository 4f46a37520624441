"""`goodgain.load` reads the outputs of a run in every format."""

import json

import pytest

import goodgain as gg
from tests.pipeline.api.test_evaluate import CALLS, DATASETS, sort_found
from tests.pipeline.runs import run, write_jsonl


@pytest.mark.slow
@pytest.mark.parametrize("file_format", ["avro", "parquet", "jsonl"])
def test_loads_every_format(file_format, tmp_path):
    traces = write_jsonl(tmp_path / "traces.jsonl", CALLS)
    options = ("--write-duplicates", "--per-call", f"--format={file_format}")
    assert run(tmp_path / "out", [traces], *options) == 0
    loaded = gg.load(tmp_path / "out")
    evaluated = gg.evaluate(traces, per_call=True)
    for name in DATASETS:
        expected = sort_found(getattr(evaluated, name).stored())
        assert sort_found(getattr(loaded, name).stored()) == expected
    assert loaded.explain("c-1") == evaluated.explain("c-1")
    assert repr(loaded) == repr(evaluated)


def test_duplicates_that_were_not_written_are_named(tmp_path):
    traces = write_jsonl(tmp_path / "traces.jsonl", CALLS)
    assert run(tmp_path / "out", [traces], "--no-write-duplicates") == 0
    with pytest.raises(gg.UsageError, match="has no table of duplicates, since"):
        _ = gg.load(tmp_path / "out").duplicates


def test_loads_columns_of_costs(tmp_path):
    run = gg.evaluate([{**call, "costs": {"tokens": 3}} for call in CALLS])
    run.save(tmp_path / "saved")
    loaded = gg.load(tmp_path / "saved")
    for name in ("conversations", "iterations"):
        table, expected = getattr(loaded, name), getattr(run, name)
        assert table.columns == expected.columns
        assert table.to_pandas().equals(expected.to_pandas())
    assert sum(loaded.conversations.to_pandas()["cost.tokens"]) > 0


def test_loads_a_saved_run(tmp_path):
    run = gg.evaluate(CALLS)
    run.save(tmp_path / "saved")
    loaded = gg.load(str(tmp_path / "saved"))
    assert loaded.means.stored() == run.means.stored()
    assert (tmp_path / "saved" / "report.html").read_bytes().startswith(b"<!DOCTYPE html>")
    with pytest.raises(gg.UsageError, match="is not empty"):
        run.save(tmp_path / "saved")


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({}, "traces"),
        ({"labels": [{"conversation_id": "c-1", "iteration": 1, "rank": 1, "gain": 4}]}, "labels"),
        ({"qrels": {"c-1": {"a": 1}}}, "qrels"),
        ({"outcomes": {"c-1": {"correct": 1}}}, "outcomes"),
        ({"exclude": {"c-1": ["a"]}}, "excluded documents"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_saved_run_does_not_explain_itself_without_what_was_in_memory(given, what, tmp_path):
    traces = write_jsonl(tmp_path / "traces.jsonl", CALLS)
    gg.evaluate(traces if given else CALLS, **given).save(tmp_path / "saved")
    loaded = gg.load(tmp_path / "saved")
    with pytest.raises(gg.UsageError, match=f"was given {what} in memory"):
        loaded.explain("c-1")


def test_writes_a_report_without_saving_the_run(tmp_path):
    gg.evaluate(CALLS).report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 500_000


@pytest.mark.parametrize("content", ["", "[1]", "{}", None])
def test_rejects_a_folder_that_is_not_a_run(content, tmp_path):
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(gg.UsageError, match=str(tmp_path)):
        gg.load(tmp_path)


def test_limits_of_today_do_not_keep_an_older_run_from_opening(tmp_path):
    run = gg.evaluate(CALLS)
    run.save(tmp_path / "saved")
    path = tmp_path / "saved" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["parameters"] |= {"max_i": 5_000, "shards": 1_000_000}
    path.write_text(json.dumps(manifest))
    loaded = gg.load(tmp_path / "saved")
    assert loaded.means.stored() == run.means.stored()
    manifest["parameters"]["max_i"] = 0
    path.write_text(json.dumps(manifest))
    with pytest.raises(gg.UsageError, match=r"other options \(max_i\)"):
        gg.load(tmp_path / "saved")


def test_rejects_a_run_of_another_version(tmp_path):
    gg.evaluate(CALLS).save(tmp_path / "saved")
    path = tmp_path / "saved" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["parameters"]["no_such_option"] = 1
    path.write_text(json.dumps(manifest))
    with pytest.raises(gg.UsageError, match=r"other options \(no_such_option\); run it again"):
        gg.load(tmp_path / "saved")
