"""A pool built with `--exclude`, and runs that are measured by it."""

import json
from random import Random

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.document.terminal import text_of
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.pool_store import read_pool
from goodgain.pipeline.run.stream.run import open_stream
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.pipeline.views.pool import pool_document
from tests.pipeline.studies.pool.steps import build, documents, write_runs

pytestmark = pytest.mark.slow

KEYS = ("--topic", "topic", "--qrels-topic", "topic")
EXCLUDED = {("t0", "d1"), ("t0", "d4"), ("t1", "d0"), ("t2", "nowhere")}


def result_of(random, topic):
    """A document with its name; now and then one that only its place identifies."""
    if random.random() < 0.2:
        return {"snippet": random.choice(["x", "y"]), "gain": random.randrange(5)}
    name = f"d{random.randrange(6)}"
    return {"ids": {"doc_id": name}, "title": f"{name} of {topic}", "gain": random.randrange(5)}


def runs_of(seed):
    random, runs = Random(seed), {}
    for run in ("base", "new"):
        runs[run] = []
        for number in range(6):
            topic = f"t{number % 3}"
            runs[run] += [
                {
                    "conversation_id": f"c{number}",
                    "iteration": i,
                    "call": call,
                    "query": f"{topic} {i}",
                    "attributes": {"topic": topic},
                    "results": [result_of(random, topic) for _ in range(random.randrange(6))],
                }
                for i in range(1, random.randrange(2, 4))
                for call in range(1, random.randrange(2, 4))
            ]
    return runs


def without_excluded(runs):
    """The traces as if they never had the excluded documents."""

    def is_left(record, result):
        name = result.get("ids", {}).get("doc_id")
        return (record["attributes"]["topic"], name) not in EXCLUDED

    return {
        run: [
            {
                **record,
                "results": [result for result in record["results"] if is_left(record, result)],
            }
            for record in records
        ]
        for run, records in runs.items()
    }


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """The traces of both runs, whole and without the excluded documents, and the exclusions."""
    folder = tmp_path_factory.mktemp("runs")
    runs = runs_of(5)
    whole, left = (
        write_runs(folder / "whole", runs),
        write_runs(folder / "left", without_excluded(runs)),
    )
    exclude = folder / "exclude.txt"
    exclude.write_text("".join(f"{topic} {name}\n" for topic, name in sorted(EXCLUDED)))
    assert build(folder / "pool", whole, *KEYS, "--exclude", str(exclude)) == ExitCode.DONE
    assert build(folder / "of_left", left, *KEYS) == ExitCode.DONE
    assert build(folder / "all", whole, *KEYS) == ExitCode.DONE
    return folder, whole, left, exclude


def test_a_pool_is_that_of_traces_without_the_documents(paths):
    folder, *_ = paths
    assert documents(folder / "pool") == documents(folder / "of_left")
    assert len(documents(folder / "pool")) < len(documents(folder / "all"))
    names = [
        (document.topic.value, result.ids.get("doc_id"))
        for document in documents(folder / "pool")
        for result in document.evidence
    ]
    assert names
    assert not EXCLUDED & set(names)


def test_its_manifest_says_what_each_run_left_out(paths):
    folder, whole, left, _ = paths
    manifest = read_pool(str(folder / "pool")).manifest
    excluded = manifest.exclude
    assert excluded.digest
    assert (excluded.pairs, excluded.qrels_id, excluded.qrels_topic) == (4, "doc_id", "topic")
    for run in ("base", "new"):
        counts = [
            sum(len(json.loads(line)["results"]) for line in traces[run].read_text().splitlines())
            for traces in (whole, left)
        ]
        part = manifest.last_build.by_run[run].exclude
        assert part.results == counts[0] - counts[1] > 0
    assert read_pool(str(folder / "of_left")).manifest.exclude is None
    shown = text_of(pool_document(read_pool(str(folder / "pool"))))
    results = manifest.last_build.by_run["new"].exclude.results
    assert f"Excluded (--exclude) from new: {results} results and 0 judgments" in shown


def test_a_run_measured_by_it_is_that_of_traces_without_the_documents(paths):
    folder, whole, left, exclude = paths
    options = {"run_name": "base", "qrels_topic": "topic", "bounds": True}
    found = gg.evaluate(
        str(whole["base"]), pool=str(folder / "pool"), exclude=str(exclude), **options
    )
    expected = gg.evaluate(str(left["base"]), pool=str(folder / "of_left"), **options)
    assert list(found.conversations) == list(expected.conversations)
    assert list(found.iterations) == list(expected.iterations)
    assert list(found.means) == list(expected.means)


def test_a_run_must_leave_out_what_its_pool_was_built_without(paths, tmp_path, capsys):
    folder, whole, _, exclude = paths
    run = ["run", "--input", str(whole["base"]), "--output", str(tmp_path / "out"), *KEYS[2:]]
    capsys.readouterr()
    assert main([*run, "--pool", str(folder / "pool")]) == ExitCode.USAGE
    assert "was built without 4 excluded documents: give the same --exclude" in one_line(capsys)
    assert main([*run, "--pool", str(folder / "all"), "--exclude", str(exclude)]) == ExitCode.USAGE
    assert "has all documents: leave out --exclude" in one_line(capsys)
    with pytest.raises(gg.UsageError, match="give the same exclude"):
        gg.evaluate(str(whole["base"]), pool=str(folder / "pool"), exclude={"t0": ["d1"]})
    stream = StreamConfig(input=str(tmp_path), output="out", pool=str(folder / "pool"))
    with pytest.raises(gg.UsageError, match="which a stream cannot leave out: use a pool that"):
        open_stream(stream)


def test_a_comparison_by_a_pool_needs_runs_with_its_exclusions(paths, tmp_path, capsys):
    folder, whole, _, exclude = paths
    outputs = {"whole": (), "without": ("--exclude", str(exclude))}
    for name, words in outputs.items():
        run = ["run", "--input", str(whole["base"]), "--output", str(tmp_path / name), *KEYS[2:]]
        assert main([*run, *words]) == ExitCode.DONE
    for pool, refused, used in (("pool", "whole", "without"), ("all", "without", "whole")):
        compare = ["compare", "--pool", str(folder / pool)]
        capsys.readouterr()
        assert main([*compare, *map(str, (tmp_path / used, tmp_path / used))]) == ExitCode.DONE
        assert "Scoring" in one_line(capsys)
        assert main([*compare, *map(str, (tmp_path / used, tmp_path / refused))]) == ExitCode.USAGE
        told = one_line(capsys)
        assert f"{tmp_path / refused} was scored with other exclusions than those of" in told
        assert "Scoring" not in told


def test_an_explanation_by_it_leaves_them_out(paths, capsys):
    folder, whole, _, exclude = paths
    traces = ["explain", "c0", "--input", str(whole["base"]), *KEYS[2:], "--run-name", "base"]
    capsys.readouterr()
    assert main([*traces, "--pool", str(folder / "pool"), "--exclude", str(exclude)]) == 0
    shown = capsys.readouterr().out
    assert "excluded" in shown
    assert "doc_id=d1" not in shown


def test_an_update_must_leave_out_the_same(paths, capsys):
    folder, whole, _, exclude = paths
    third = {"third": whole["new"]}
    capsys.readouterr()
    update = ("--update", str(folder / "pool"), "--qrels-topic", "topic")
    assert build(folder / "pool", third, *update) == ExitCode.USAGE
    assert "was built with other exclusions: give the same --exclude" in one_line(capsys)
    assert build(folder / "pool", third, *update[:2], "--exclude", str(exclude)) == ExitCode.USAGE


def test_judgments_of_aspects_are_added_to_a_pool_afterwards(paths, tmp_path, capsys):
    _, whole, *_ = paths
    assert build(tmp_path / "pool", whole, "--aspect-qrels", "a.txt") == ExitCode.USAGE
    assert "`goodgain pool label POOL --aspects FILE`" in one_line(capsys)


def one_line(capsys):
    return " ".join(capsys.readouterr().err.split())
