"""`goodgain compare` with a pool: matching runs to it, and documents that only one arm found."""

import json
from collections import Counter
from random import Random

import pytest
from msgspec.structs import replace

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.pool_store import read_pool
from goodgain.pipeline.studies.comparison.compare import compare
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from goodgain.pipeline.views.found_documents import count_finds
from tests.pipeline.runs import contents, manifest, rows, run, write_jsonl

pytestmark = pytest.mark.slow
METRICS = ("recall", "ndcg@10", "precision", "precision@5", "auc", "hits@5", "map")
TOPICS = 24


def gain_of(topic, number):
    """The label of a document; topics 0, 5, 10, ... have no good one, and 5, 15, ... only zeros."""
    gain = (7 * topic + number) % 5
    return gain if topic % 5 else 0 if topic % 10 else min(gain, 1)


def traces(seed, share, idle=()):
    """One conversation per topic; those in `idle` did not search."""
    random = Random(seed)
    records = []
    for topic in range(TOPICS):
        named = {"attributes": {"query": f"q{topic}"}, "conversation_id": f"c{topic}"}
        if topic in idle:
            records.append({**named, "iteration": 1, "turn_count": 2, "results": []})
            continue
        for iteration in range(1, 3 + topic % 3):
            found = [number for number in range(12) if random.random() < share]
            results = [
                {
                    "ids": {"doc_id": f"{topic}-{number}"},
                    "title": f"T {topic}-{number}",
                    "gain": gain_of(topic, number),
                }
                for number in found
            ]
            records.append({**named, "iteration": iteration, "results": results})
    return records


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Two runs, a third one that found more, and a pool; the base did not always search."""
    folder = tmp_path_factory.mktemp("world")
    paths = {
        "base": write_jsonl(folder / "base.jsonl", traces(1, 0.2, idle={0, 2, 5, 10, 15, 17})),
        "new": write_jsonl(folder / "new.jsonl", traces(2, 0.25)),
        "more": write_jsonl(folder / "more.jsonl", traces(3, 0.6)),
    }
    words = [word for name, path in paths.items() for word in ("--run", f"{name}={path}")]
    pool = str(folder / "pool")
    assert main(["pool", "build", *words, "--topic=query", "--output", pool]) == ExitCode.DONE
    for name in ("base", "new"):
        options = ["--metrics", *METRICS, "--format", "jsonl"]
        assert run(folder / f"plain-{name}", [paths[name]], *options) == ExitCode.DONE
        options += ["--pool", pool, "--run-name", name]
        assert run(folder / name, [paths[name]], *options) == ExitCode.DONE
    return folder


def request(world, *names, **options):
    return ComparisonRequest(tuple(str(world / name) for name in names), **options)


def values(compared):
    return [
        (row.metric, row.i, row.population, row.base_mean, row.difference) for row in compared.rows
    ]


def test_population_everyone_agrees_with_the_means(world):
    """Metrics are null for a topic without good documents, even if nobody searched for it."""
    compared = compare(request(world, "base", "new", unpaired=True))
    means = {
        (row["metric"], row["i"]): row
        for row in rows(world / "base", "means")
        if row["population"] == "everyone"
    }
    checked = 0
    for row in compared.rows:
        mean = means.get((row.metric, row.i))
        if row.population == "everyone" and row.direction == "higher" and mean is not None:
            assert row.n_base == mean["n"], row.metric
            assert row.undefined_in_base == mean["undefined"], row.metric
            if mean["n"]:
                assert row.base_mean == pytest.approx(mean["mean"]), row.metric
            checked += 1
    assert checked > 60
    shares = [row for row in compared.rows if row.metric == "pool_recall" and row.i is None]
    assert [(row.n_base, row.undefined_in_base) for row in shares] == [(19, 5)]


def test_runs_without_a_pool_are_scored_again_with_it(world, capsys):
    """The result equals that of runs scored with the pool; the folders stay unchanged."""
    before = contents(world / "plain-base")
    messages = []
    pool = str(world / "pool")
    compared = compare(request(world, "plain-base", "plain-new", pool=pool), messages.append)
    assert values(compared) == values(compare(request(world, "base", "new")))
    assert contents(world / "plain-base") == before
    assert [text.partition(" again")[0] for text in messages] == [
        f"Scoring {world / name}" for name in ("plain-base", "plain-new")
    ]
    assert messages[0].endswith("as its run base ...")
    assert compared.arms.base_source.manifest.options.output == str(world / "plain-base")
    assert compared.arms.base.label == str(world / "plain-base")


def test_a_run_scored_with_the_pool_is_used_unchanged(world):
    messages = []
    pool = str(world / "pool")
    compared = compare(request(world, "plain-base", "new", pool=pool), messages.append)
    assert len(messages) == 1
    assert values(compared) == values(compare(request(world, "base", "new")))


def test_the_report_knows_a_pool_metric_without_the_recall(world, tmp_path):
    words = ["compare", str(world / "base"), str(world / "new"), "--metrics", "pool_nCG"]
    assert main([*words, "--output", str(tmp_path / "out")]) == ExitCode.DONE
    assert "Gain of the pool" in (tmp_path / "out/report.html").read_text()


def test_runs_that_cannot_be_scored_with_the_pool_are_refused(world, tmp_path, capsys):
    path = write_jsonl(tmp_path / "base.jsonl", traces(1, 0.2))
    changed = tmp_path / "changed"
    assert run(changed, [path], "--metrics", "recall") == ExitCode.DONE
    write_jsonl(path, traces(1, 0.2)[:5])
    words = ["compare", str(changed), str(world / "new"), "--pool"]
    assert main([*words, str(world / "pool")]) == ExitCode.USAGE
    assert "cannot be scored again, since its inputs changed" in capsys.readouterr().err
    assert main([*words, str(tmp_path)]) == ExitCode.USAGE
    assert "it is not a pool" in capsys.readouterr().err
    (tmp_path / "qrels.txt").write_text("c1 0 1-1 3\n")
    judged = tmp_path / "judged"
    options = ["--qrels", str(tmp_path / "qrels.txt"), "--allow-unlabelled", "--allow-no-good"]
    assert run(judged, [path], *options) == ExitCode.DONE
    words[1] = str(judged)
    assert main([*words, str(world / "pool")]) == ExitCode.USAGE
    assert "was scored with qrels" in capsys.readouterr().err


def found_by(world, names=("base", "new")):
    """The arms that found each good document of the pool, by topic and number."""
    found = {}
    for document in read_pool(str(world / "pool")).documents():
        if (document.label() or 0) >= 2:
            base, new = (any(place.run == name for place in document.places) for name in names)
            who = "both" if base and new else "base" if base else "candidate" if new else "neither"
            found[document.topic.value, document.number] = who, document.evidence[0].title
    return found


def test_each_document_names_the_arms_that_found_it(world, tmp_path, capsys):
    output = tmp_path / "out"
    words = ["compare", str(world / "base"), str(world / "new"), "--output", str(output)]
    assert main([*words, "--format", "jsonl"]) == ExitCode.DONE
    printed = capsys.readouterr().out
    expected = found_by(world)
    listed = {
        (row["topic"], row["number"]): (row["found_by"], row["title"])
        for row in rows(output, "pool_documents")
    }
    assert listed == expected
    counts = Counter(who for who, _ in expected.values())
    assert min(counts.values()) > 0
    pool = manifest(output)["pool"]
    assert {name: pool[name] for name in counts} == counts
    assert pool["topics"] == len({topic for topic, _ in expected})
    assert pool["topics_of_one_arm"] == 0
    assert f"the candidate alone {counts['candidate']} " in " ".join(printed.split())
    assert "Only the base:" in printed
    report = (output / "report.html").read_text()
    assert "Found by one arm alone" in report
    assert main([*words, "--overwrite"]) == ExitCode.DONE


def test_arms_without_a_common_topic_have_no_table_of_zeros(world):
    finds = compare(request(world, "new", "new", unpaired=True)).pool_finds
    (said,) = count_finds(replace(finds, topics=0, topics_of_one_arm=4))
    assert said.text.startswith("No topic that has a good document was searched by both arms")


def test_shares_by_iteration_have_the_intervals_of_the_means(world):
    finds = compare(request(world, "new", "new", unpaired=True)).pool_finds
    means = {
        row["i"]: row
        for row in rows(world / "new", "means")
        if row["metric"] == "pool_recall_at_i" and row["population"] == "all"
    }
    assert len(finds.shares) == 20
    for point in finds.shares:
        mean = means[point.i]
        assert point.n == mean["n"]
        for name in ("mean", "ci_low", "ci_high"):
            assert getattr(point, name) == pytest.approx(mean[name])


def test_a_changed_pool_gives_counts_but_no_documents(world, tmp_path):
    pool = world / "pool" / "manifest.json"
    content = pool.read_text()
    try:
        pool.write_text(json.dumps(json.loads(content) | {"digest": "0" * 32}))
        finds = compare(request(world, "base", "new")).pool_finds
    finally:
        pool.write_text(content)
    assert finds.documents == ()
    assert "has changed since" in finds.note
    assert finds.both == sum(who == "both" for who, _ in found_by(world).values())


def test_without_a_common_pool_there_are_no_pool_results(world, capsys):
    assert compare(request(world, "plain-base", "plain-new")).pool_finds is None
    assert main(["compare", str(world / "base"), str(world / "plain-new")]) == ExitCode.USAGE
    assert "pool (one with the digest" in capsys.readouterr().err
    forced = compare(request(world, "base", "plain-new", force=True))
    assert forced.pool_finds is None
    assert not any(row.metric == "pool_recall" for row in forced.rows)
