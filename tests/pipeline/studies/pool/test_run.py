"""`run`, `explain` and `evaluate` with a pool give the numbers of the core."""

import json

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.opened_pool import open_pool
from goodgain.pipeline.results.rows import conversation_row, iteration_row
from goodgain.transforms.filesystems import open_plain
from tests.core.pool import direct
from tests.pipeline.runs import contents, manifest, rows, run, write_jsonl
from tests.pipeline.studies.pool.steps import build, some_runs

pytestmark = pytest.mark.slow

METRICS = ("--metrics", "recall", "ndcg@10")


@pytest.fixture(scope="module")
def found():
    return some_runs(seed=40)


@pytest.fixture(scope="module")
def outputs(pool, paths, tmp_path_factory):
    """A folder with the outputs of each run, scored with the pool of all runs."""
    folder = tmp_path_factory.mktemp("outputs")
    for name, path in paths.items():
        options = ("--pool", str(pool), "--run-name", name, "--format", "jsonl", "--bounds")
        assert run(folder / name, [path], *options, *METRICS) == ExitCode.DONE
    return folder


def row_of(scored):
    return conversation_row(scored.conversation)


def drop_timestamps(row):
    return {name: value for name, value in row.items() if not name.endswith("_timestamp")}


@pytest.mark.slow
def test_rows_equal_those_of_the_core(found, outputs):
    built = direct.build(found, "topic")
    for name, records in found.items():
        opens = any(record.get("action") in ("open", "cite") for record in records)
        scores = direct.score(records, built, name, metrics=("recall", "ndcg@10"), usage=opens)
        for row in rows(outputs / name, "conversations"):
            expected = row_of(scores[row["conversation_id"]])
            assert {key: expected[key] for key in row} == row
        by_place = {
            (iteration.conversation_id, iteration.i): iteration_row(iteration)
            for scored in scores.values()
            for iteration in scored.iterations
        }
        for row in rows(outputs / name, "iterations"):
            expected = by_place[row["conversation_id"], row["i"]]
            assert {key: expected[key] for key in row} == row
            assert "pool_recall_at_i" in row


def test_means_of_pool_metrics_agree_with_the_rows(outputs, paths):
    for name in paths:
        means = {
            (row["metric"], row["i"], row["population"]): row
            for row in rows(outputs / name, "means")
        }
        found = [row for row in rows(outputs / name, "conversations") if row["N"]]
        for metric in ("pool_recall", "pool_nCG", "half_of_pool_reached"):
            values = [row[metric] for row in found if row[metric] is not None]
            row = means[metric, None, "all"]
            assert (row["n"], row["undefined"]) == (len(values), len(found) - len(values))
            if values:
                assert row["mean"] == pytest.approx(sum(values) / len(values))
        for population in ("reached", "all"):
            assert means["pool_recall_at_i", 1, population]["n"] <= len(found)
        last = means["pool_nCG_at_i", 10, "all"]
        assert last["mean"] == pytest.approx(means["pool_nCG", None, "all"]["mean"])


def test_manifest_describes_the_pool(outputs, pool, paths):
    name = next(iter(paths))
    found = manifest(outputs / name)["pool"]
    assert found["digest"] == open_pool(str(pool), None, open_plain).manifest.digest
    assert found["run_name"] == name
    assert found["outside"] == found["matched"] == 0
    assert found["pooled"] == manifest(outputs / name)["results"]["unique"]


def test_evaluate_gives_the_rows_of_the_run(outputs, pool, paths):
    for name, path in paths.items():
        ours = gg.evaluate(
            str(path), pool=str(pool), run_name=name, metrics=["recall", "ndcg@10"], bounds=True
        )
        for dataset in ("conversations", "iterations", "means"):
            theirs = rows(outputs / name, dataset)
            assert list(map(drop_timestamps, getattr(ours, dataset))) == list(
                map(drop_timestamps, theirs)
            )


def test_explain_shows_which_results_are_pooled(pool, paths, outputs, capsys):
    name = next(iter(paths))
    row = next(row for row in rows(outputs / name, "conversations") if row["UR"])
    words = ["--input", str(paths[name]), "--pool", str(pool), "--run-name", name]
    assert main(["explain", row["conversation_id"], *words, "--json"]) == ExitCode.DONE
    explained = json.loads(capsys.readouterr().out)
    results = [
        result
        for iteration in explained["iterations"]
        for call in iteration["search_calls"]
        for result in call["results"]
    ]
    pooled = [result["pooled"] for result in results if "pooled" in result]
    assert len(pooled) == row["UR"]
    assert {row["how"] for row in pooled} == {"pooled"}
    assert main(["explain", row["conversation_id"], *words]) == ExitCode.DONE
    assert "pool" in capsys.readouterr().out


def test_rejects_wrong_options(pool, paths, tmp_path, capsys):
    path = next(iter(paths.values()))
    for options, message in [
        (["--pool", str(pool), "--run-name", "none"], "has no run none; it has"),
        (["--run-name", "A"], "so --pool is needed, too"),
        (["--pool", str(tmp_path)], "it is not a pool"),
        (["--pool", str(pool), "--qrels", "q"], "labels come from one of them"),
    ]:
        assert run(tmp_path / "out", [path], *options) == ExitCode.USAGE
        assert message in capsys.readouterr().err


@pytest.mark.slow
def test_format_of_the_pool_changes_no_byte(outputs, paths, tmp_path):
    name = next(iter(paths))
    other = tmp_path / "pool"
    assert build(other, paths, "--topic", "topic", "--format", "parquet") == ExitCode.DONE
    options = ("--pool", str(other), "--run-name", name, "--format", "jsonl", "--bounds")
    assert run(tmp_path / "out", [paths[name]], *options, *METRICS) == ExitCode.DONE
    assert contents(tmp_path / "out") == contents(outputs / name)


def test_evaluate_warns_of_ids_that_are_positions(tmp_path):
    """With positions as ids, the labels of two conversations for one document are far apart."""
    for name, gain in (("a", 0), ("b", 4)):
        results = [{"ids": {"doc_id": str(at)}, "gain": gain} for at in range(20)]
        record = {"conversation_id": name, "iteration": 1, "attributes": {"query": "q"}}
        write_jsonl(tmp_path / f"{name}.jsonl", [{**record, "results": results}])
    pool = str(tmp_path / "pool")
    runs = [f"{name}={tmp_path / name}.jsonl" for name in "ab"]
    words = ["pool", "build", "--run", runs[0], "--run", runs[1], "--topic", "query"]
    assert main([*words, "--output", pool]) == ExitCode.DONE
    found = gg.evaluate(str(tmp_path / "a.jsonl"), pool=pool, run_name="a").manifest.warnings
    assert "labels_apart" in {warning.code for warning in found}
