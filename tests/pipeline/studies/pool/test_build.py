"""`goodgain pool build` and `show`: deterministic files, updates and rejected inputs."""

import json
from bisect import bisect_left
from random import Random

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.inputs.local_files import open_local
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.pool_store import read_pool
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.rules_file import read_rules, read_shipped_rules
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.pool.files import TopicPools
from tests.core.pool import direct
from tests.pipeline.studies.pool.steps import build, documents, files, some_runs, write_runs


@pytest.fixture(scope="module")
def found():
    return some_runs(seed=3)


def test_pool_equals_that_of_the_core(pool, found):
    built = direct.build(found, "topic")
    expected = {
        topic_pool.topic: own for topic_pool in built.values() if (own := topic_pool.documents)
    }
    by_topic = {}
    for document in documents(pool):
        by_topic.setdefault(document.topic, []).append(document)
    assert by_topic == expected
    manifest = read_pool(str(pool)).manifest
    assert manifest.content.documents == sum(map(len, expected.values()))
    assert manifest.content.topics == len(expected)


def test_a_build_that_fails_leaves_nothing_that_was_not_there(found, tmp_path):
    (name, path), *_ = write_runs(tmp_path / "runs", found).items()
    output, before = tmp_path / "new" / "pool", list(tmp_path.rglob("*"))
    words = ["pool", "build", "--output", str(output), "--run"]
    assert main([*words, f"{name}={tmp_path / 'none.jsonl'}"]) == ExitCode.USAGE
    assert list(tmp_path.rglob("*")) == before
    assert main([*words, f"{name}={path}", "--max-held-bytes=1"]) == ExitCode.FAILED
    assert list(tmp_path.rglob("*")) == before


@pytest.mark.slow
def test_order_and_split_of_inputs_do_not_change_bytes(pool, found, tmp_path):
    names = list(found)[::-1]
    shuffled = {name: list(found[name]) for name in names}
    for records in shuffled.values():
        Random(1).shuffle(records)
    halves = {}
    for name, records in shuffled.items():
        for part in range(2):
            halves[f"{name}-{part}"] = records[part::2]
    split = write_runs(tmp_path / "runs", halves)
    words = [
        word
        for name in names
        for word in ("--run", f"{name}={split[f'{name}-1']}", split[f"{name}-0"])
    ]
    other = tmp_path / "other"
    options = ["--topic", "topic", "--shards", "3", "--output", other]
    assert main(["pool", "build", *map(str, [*words, *options])]) == ExitCode.DONE
    assert files(other) == files(pool)


@pytest.mark.slow
@pytest.mark.parametrize("written", ["jsonl", "parquet"])
def test_every_format_has_the_same_content(pool, paths, written, tmp_path):
    other = tmp_path / "other"
    assert build(other, paths, "--topic", "topic", "--format", written) == ExitCode.DONE
    assert sorted(map(repr, documents(other))) == sorted(map(repr, documents(pool)))


def topic_pools(pool, most=None):
    rules = compile_rules(read_rules(read_shipped_rules()))
    return TopicPools(read_pool(str(pool)).files, rules, open_local, MemoryBudget(most))


def test_every_topic_is_found_in_its_file(pool):
    pools = topic_pools(pool)
    by_topic = {}
    for document in documents(pool):
        by_topic.setdefault(document.topic, []).append(document)
    for topic, own in by_topic.items():
        assert list(pools.of_topic(topic).documents) == own


def fits(pool, topic, most):
    try:
        topic_pools(pool, most).of_topic(topic)
    except GoodGainError:
        return False
    return True


def test_topics_are_evicted_if_memory_is_short(pool):
    one, other = list(dict.fromkeys(document.topic for document in documents(pool)))[:2]
    bounds = range(1_000, 10**6, 1_000)
    enough = bisect_left(bounds, True, key=lambda n: fits(pool, one, n) and fits(pool, other, n))
    for pools, kept in ((topic_pools(pool), True), (topic_pools(pool, bounds[enough]), False)):
        first = pools.of_topic(one)
        assert pools.of_topic(one) is first
        pools.of_topic(other)
        assert (pools.of_topic(one) is first) is kept


@pytest.mark.slow
def test_update_adds_runs_and_keeps_ids(paths, tmp_path):
    first, *rest = paths
    folder = tmp_path / "pool"
    assert build(folder, {first: paths[first]}, "--topic", "topic") == ExitCode.DONE
    before = documents(folder)
    others = {name: paths[name] for name in rest}
    assert build(folder, others, "--update", str(folder)) == ExitCode.DONE
    after = {(document.topic, document.number): document.document for document in documents(folder)}
    assert len(after) > len(before)
    assert all(after[document.topic, document.number] == document.document for document in before)
    assert sorted(read_pool(str(folder)).manifest.runs) == sorted(paths)
    assert [path.name for path in folder.glob("documents_*")] == ["documents_0002"]


@pytest.mark.slow
def test_rejects_a_pooled_conversation_unless_it_replaces_the_old_one(
    pool, paths, tmp_path, capsys
):
    folder = tmp_path / "pool"
    assert build(folder, paths, "--topic", "topic", "--shards", "3") == ExitCode.DONE
    name = next(iter(paths))
    before = files(folder)
    again = {name: paths[name]}
    assert build(folder, again, "--update", str(folder)) == ExitCode.USAGE
    assert f"({name}: c" in capsys.readouterr().err
    assert files(folder) == before
    assert build(folder, again, "--update", str(folder), "--replace") == ExitCode.DONE
    assert documents(folder) == documents(pool)


def test_rejects_wrong_outputs_and_options(pool, paths, tmp_path, capsys):
    one = {"A": next(iter(paths.values()))}
    for options, message in [
        (["--output", str(pool)], "is not empty"),
        (["--update", str(pool), "--topic", "other"], "was built with the topic topic, not other"),
        (["--update", str(tmp_path)], "it is not a pool"),
        (["--output", str(tmp_path / "p"), "--replace"], "--replace needs --update POOL"),
    ]:
        words = [word for name, path in one.items() for word in ("--run", f"{name}={path}")]
        assert main(["pool", "build", *words, *options]) == ExitCode.USAGE
        assert message in capsys.readouterr().err
    assert main(["pool", "build", "--run", "x.jsonl", "--output", "p"]) == ExitCode.USAGE
    assert "--run must be NAME=PATTERN, like new=f.jsonl" in capsys.readouterr().err
    twice = ["--run", "a=x.jsonl", "--run", " a=y.jsonl"]
    assert main(["pool", "build", *twice, "--output", "p"]) == ExitCode.USAGE
    assert "--run has 'a' twice: give each run a name of its own" in capsys.readouterr().err
    for words in ("a\udcff=x.jsonl", "a=\udcff"):
        assert main(["pool", "build", "--run", words, "--output", "p"]) == ExitCode.USAGE
        assert "--run must be text in UTF-8" in capsys.readouterr().err


def test_show_prints_documents_and_rejects_unknown_topics(pool, capsys):
    assert main(["pool", "show", str(pool)]) == ExitCode.DONE
    shown = capsys.readouterr().out
    assert "only in this run" in shown
    topic = documents(pool)[0].topic
    assert main(["pool", "show", str(pool), "--topic", str(topic.value), "--json"]) == ExitCode.DONE
    listed = json.loads(capsys.readouterr().out)
    own = [document for document in documents(pool) if document.topic == topic]
    assert [document["document"] for document in listed["documents"]] == [
        document.document for document in own
    ]
    assert main(["pool", "show", str(pool), "--topic", "none"]) == ExitCode.USAGE
    assert "has no topic none; without --topic the first are shown" in capsys.readouterr().err
    assert main(["pool", "show", str(pool), "--topic", f"{topic.value}x"]) == ExitCode.USAGE
    assert f"x; the nearest is {topic.value}" in capsys.readouterr().err
    assert main(["pool"]) == ExitCode.USAGE
    assert "give one of pool build, pool show" in capsys.readouterr().err


def runs_with_other_names(tmp_path):
    """Two runs whose records have other field names and count iterations from 0."""
    for run, number in (("a", 1), ("b", 2)):
        hits = [{"docid": f"d{number}", "relevance": number}, {"docid": "both"}]
        record = {"session": "c", "step": 0, "q": "what", "hits": hits}
        (tmp_path / f"{run}.jsonl").write_text(json.dumps(record) + "\n")
    return {run: tmp_path / f"{run}.jsonl" for run in "ab"}


RENAMED = "conversation_id=session,iteration=step,query=q,results=hits,ids.doc_id=docid"


def test_renamed_fields_are_pooled(tmp_path, capsys):
    options = ("--map", f"{RENAMED},gain=relevance", "--iteration-base", "0")
    assert build(tmp_path / "pool", runs_with_other_names(tmp_path), *options) == ExitCode.DONE
    found = {
        document.evidence[0].ids["doc_id"]: document for document in documents(tmp_path / "pool")
    }
    assert {name: (len(document.places), document.label()) for name, document in found.items()} == {
        "d1": (1, 1),
        "d2": (1, 2),
        "both": (2, None),
    }
    assert {place.query for document in found.values() for place in document.places} == {"what"}
    assert "Warning" not in capsys.readouterr().err


def test_rejects_an_unknown_field_and_reports_an_absent_name(tmp_path, capsys):
    paths = runs_with_other_names(tmp_path)
    options = ("--map", "conversation=session", "--iteration-base", "0")
    assert build(tmp_path / "pool", paths, *options) == ExitCode.USAGE
    assert "conversation is not a field; did you mean conversation_id?" in capsys.readouterr().err
    assert not (tmp_path / "pool").exists()
    options = ("--map", f"{RENAMED},gain=relevanse", "--iteration-base", "0")
    assert build(tmp_path / "pool", paths, *options) == ExitCode.DONE
    errors = capsys.readouterr().err
    assert "none of the first records has: relevanse" in errors
    assert "results[].relevance (gain?)" in errors
