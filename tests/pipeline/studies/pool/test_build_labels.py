"""`goodgain pool build` reads, labels and checks runs as `goodgain run` does."""

import json

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.finished_run import read_run
from goodgain.pipeline.results.pool_store import read_pool
from tests.pipeline.studies.pool.steps import build, documents, files, some_runs, write_runs


@pytest.fixture(scope="module")
def found():
    return some_runs(seed=5)


def results_of(found):
    """(record, rank from 1, result) of every result."""
    for records in found.values():
        for record in records:
            for rank, result in enumerate(record["results"] or (), start=1):
                yield record, rank, result


def by_hand(number):
    return number % 5


def with_own_labels(found):
    """The runs, each result with a gain by its number."""
    copied = json.loads(json.dumps(found))
    for number, (_, _, result) in enumerate(results_of(copied)):
        result["gain"] = by_hand(number)
    return copied


def two_runs(gains=(4, 0, None)):
    """Two runs of one conversation each, which share the second of three documents."""

    def run(names):
        results = [
            {"ids": {"doc_id": name}, "title": f"title of {name}"}
            | ({} if gain is None else {"gain": gain})
            for name, gain in zip(names, gains, strict=False)
        ]
        record = {"conversation_id": "c", "iteration": 1, "results": results}
        return [record | {"attributes": {"topic": "t"}}]

    return {"base": run("ab"), "new": run("cb")}


def labels_by_id(pool):
    return {document.evidence[0].ids["doc_id"]: document.label() for document in documents(pool)}


@pytest.mark.slow
def test_labels_from_a_file_equal_those_in_the_traces(tmp_path, capsys):
    found = two_runs(gains=(None, None))
    paths = write_runs(tmp_path / "runs", found)
    labelled = write_runs(tmp_path / "labelled", two_runs(gains=(3, 1)))
    table = tmp_path / "labels.csv"
    rows = ["c,1,1,3", "c,1,2,1", "elsewhere,1,1,4"]
    table.write_text("conversation_id,iteration,rank,gain\n" + "\n".join(rows) + "\n")
    given = tmp_path / "given"
    assert build(given, paths, "--topic", "topic", "--labels", str(table)) == ExitCode.DONE
    said = " ".join(capsys.readouterr().out.split())
    assert "1 of 3 labels matches no result of base (those for other runs count here, too)" in said
    inside = tmp_path / "inside"
    assert build(inside, labelled, "--topic", "topic") == ExitCode.DONE
    assert files(given) == files(inside)
    assert labels_by_id(given) == {"a": 3, "b": 1, "c": 3}
    of_runs = read_pool(str(given)).manifest.last_build.by_run
    for part in of_runs.values():
        labels = part.labels
        assert (labels.read, labels.joined, labels.rejected) == (3, 2, 1)


@pytest.mark.slow
def test_labels_by_record_equal_those_in_generated_traces(found, tmp_path):
    numbered = json.loads(json.dumps(found))
    for run, records in numbered.items():
        for at, record in enumerate(records):
            record["record_id"] = f"{run}-{at}"
    rows = [
        json.dumps({"record_id": record["record_id"], "rank": rank, "gain": by_hand(number)})
        for number, (record, rank, _) in enumerate(results_of(numbered))
    ]
    table = tmp_path / "labels.jsonl"
    table.write_text("\n".join(rows) + "\n")
    paths = write_runs(tmp_path / "runs", numbered)
    options = ("--topic", "topic", "--labels", str(table))
    assert build(tmp_path / "given", paths, *options) == ExitCode.DONE
    labelled = write_runs(tmp_path / "labelled", with_own_labels(numbered))
    assert build(tmp_path / "inside", labelled, "--topic", "topic") == ExitCode.DONE
    assert files(tmp_path / "given") == files(tmp_path / "inside")


def test_judgments_replace_every_label(tmp_path):
    paths = write_runs(tmp_path / "runs", two_runs())
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("t 0 a 2\nt 0 b 3\nother 0 c 4\n")
    options = ("--topic", "topic", "--qrels", str(qrels), "--qrels-topic", "topic")
    assert build(tmp_path / "pool", paths, *options) == ExitCode.DONE
    assert labels_by_id(tmp_path / "pool") == {"a": 2, "b": 3, "c": None}
    part = read_pool(str(tmp_path / "pool")).manifest.last_build.by_run["base"].qrels
    assert (part.judgments, part.never_retrieved) == (3, 1)


def test_judgments_that_differ_leave_no_pool(tmp_path, capsys):
    paths = write_runs(tmp_path / "runs", two_runs())
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("t 0 a 2\nt 0 a 3\n")
    options = ("--topic", "topic", "--qrels", str(qrels), "--qrels-topic", "topic")
    assert build(tmp_path / "pool", paths, *options) == ExitCode.USAGE
    errors = capsys.readouterr().err
    assert errors.count(f"{qrels}:1") == 1
    assert not (tmp_path / "pool" / "manifest.json").exists()


@pytest.mark.slow
def test_warns_of_each_run_as_a_run_does(tmp_path, capsys):
    found = two_runs()
    again = json.loads(json.dumps(found["new"][0]))
    again["results"][0]["title"] = "another"
    found["new"].append(again | {"call": 1})
    found["new"][0]["call"] = 1
    paths = write_runs(tmp_path / "runs", found)
    assert build(tmp_path / "pool", paths, "--topic", "topic") == ExitCode.DONE
    warning = "new: Warning (conflicting_redeliveries): 1 of 2 records (50.0 %) is not scored"
    assert warning in " ".join(capsys.readouterr().err.split())
    output = str(tmp_path / "run")
    assert main(["run", "--input", str(paths["new"]), "--output", output]) == ExitCode.DONE
    of_run = read_run(str(tmp_path / "run"))
    of_pool = read_pool(str(tmp_path / "pool")).manifest.last_build.by_run["new"]
    assert of_pool.records == of_run.records
    assert of_pool.warnings == of_run.warnings


def test_unknown_losses_exceed_a_given_limit(tmp_path):
    """As in a run: nobody knows how many records a torn compressed file held."""
    paths = write_runs(tmp_path / "runs", two_runs())
    torn = tmp_path / "torn.avro"
    torn.write_bytes(b"Obj\x01" + bytes(100))
    broken = {**paths, "torn": torn}
    given = ("--topic", "topic", "--max-rejected", "50%")
    assert build(tmp_path / "given", broken, *given) == ExitCode.DATA_QUALITY
    last = read_pool(str(tmp_path / "given")).manifest.last_build
    assert (last.unknown_losses, last.too_many_rejected) == (1, True)
