"""Aspects of pool documents: labelled, judged, and counted in runs with the pool, by hand."""

import json
import shutil
import sys
from math import log2

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.transforms.core.pool.document import PoolDocument, Topic
from goodgain.transforms.core.records.search_call import Result
from tests.pipeline.runs import manifest, run
from tests.pipeline.studies.pool.steps import build, documents, write_runs
from tests.reference.test_pool import call, doc

# One topic, found by two runs. Its aspects are x, y and z: d covers x, e covers x and y, f covers
# z, g was judged and covers none, h was not judged.
RUNS = {
    "A": [
        call(doc("g"), doc("d"), query="first"),
        call(doc("e"), doc("d"), doc("h"), iteration=2),
    ],
    "B": [call(doc("f"))],
}
ASPECTS = {"d": ["x"], "e": ["x", "y"], "f": ["z"], "g": []}
METRICS = ("strec@1", "strec@3", "alpha_ndcg@3")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aspects")
    runs = write_runs(folder / "runs", RUNS)
    assert build(folder / "pool", runs) == ExitCode.DONE
    return folder


@pytest.fixture
def pool(built, tmp_path):
    shutil.copytree(built / "pool", tmp_path / "pool")
    return tmp_path / "pool"


def label(pool, path, *options):
    return main(["pool", "label", str(pool), "--aspects", str(path), *options])


def covered(pool):
    return {
        document.evidence[0].ids["doc_id"]: document.covered_aspects()
        for document in documents(pool)
    }


def in_table(tmp_path):
    path = tmp_path / "aspects.jsonl"
    rows = [{"document": name, "aspects": names} for name, names in ASPECTS.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"document": "h"}]))
    return path


def assert_by_hand(conversation, iterations):
    # A is 3. Iteration 1 finds g and d, so x; iteration 2 finds e, so y too: 2 of 3.
    assert [row["new_aspects_i"] for row in iterations] == [1, 1]
    assert [row["aspects_at_i"] for row in iterations] == [1, 2]
    assert [row["aspect_recall_at_i"] for row in iterations] == [1 / 3, 2 / 3]
    assert (conversation["aspects"], conversation["topic_aspects"]) == (2, 3)
    assert conversation["iterations_for_all_aspects"] is None
    # The list is g, d, e, h.
    assert (conversation["strec@1"], conversation["strec@3"]) == (0, 2 / 3)
    found = 1 / log2(3) + (0.5 + 1) / log2(4)
    ideal = 2 / log2(2) + 1 / log2(3) + 0.5 / log2(4)  # e, f, d
    assert conversation["alpha_ndcg@3"] == pytest.approx(found / ideal)


def test_from_labels_to_the_numbers_of_a_run(built, pool, tmp_path, capsys):
    assert label(pool, in_table(tmp_path), "--annotator", "ann") == ExitCode.DONE
    assert "4 lists of aspects given, 0 of them replacing another; 1 line without" in (
        capsys.readouterr().out
    )
    expected = {name: frozenset(names) for name, names in ASPECTS.items()}
    assert covered(pool) == {**expected, "h": None}
    scored = gg.evaluate(str(built / "runs" / "A.jsonl"), pool=str(pool), metrics=METRICS)
    assert_by_hand(scored.conversations[0], scored.iterations)
    assert scored.manifest.pool.judged_for_aspects == 4
    # Without the pool there is none, nor in a pool without aspects.
    assert "aspects" not in gg.evaluate(str(built / "runs" / "A.jsonl")).conversations[0]
    unjudged = gg.evaluate(str(built / "runs" / "A.jsonl"), pool=str(built / "pool"))
    assert "aspects" not in unjudged.conversations[0]


@pytest.mark.slow
def test_in_the_outputs_of_a_run_and_its_comparison(built, pool, tmp_path, capsys):
    assert label(pool, in_table(tmp_path)) == ExitCode.DONE
    outputs = [tmp_path / name for name in "AB"]
    options = ("--metrics", *METRICS, "--allow-unlabelled")
    for name, output in zip("AB", outputs, strict=True):
        traces = str(built / "runs" / f"{name}.jsonl")
        assert run(output, [traces], "--pool", str(pool), *options) == ExitCode.DONE
    (row,) = read_dataset(str(outputs[0]), "conversations")
    assert_by_hand(row, list(read_dataset(str(outputs[0]), "iterations")))
    assert manifest(outputs[0])["pool"]["judged_for_aspects"] == 4
    capsys.readouterr()
    traces = str(built / "runs" / "A.jsonl")
    assert main(["explain", "c", "--input", traces, "--pool", str(pool)]) == 0
    assert "1 new aspect, 2 so far, recall 66.7 %" in capsys.readouterr().out
    # The pool is the yardstick of both, so that verdicts may rest on it.
    main(["compare", *map(str, outputs), "--metrics", "strec@3", "--json"])
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert not any("aspect-qrels" in (row["reason"] or "") for row in rows)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "document,aspects\nd,x\ne,x; y\nf,z\ng,[]\nh,\n"),
        ("a.txt", "c x d 1\nc x e 1\nc y e 2\nc z f 1\nc x g 0\nc x h -1\n"),
    ],
)
def test_forms_of_files(pool, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert label(pool, tmp_path / name) == ExitCode.DONE
    expected = {name: frozenset(names) for name, names in ASPECTS.items()}
    assert covered(pool) == {**expected, "h": None}


def test_lines_that_cannot_be_used_are_named(pool, tmp_path, capsys):
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"document": "d", "aspects": [1]}\n{"document": "nowhere", "aspects": ["x"]}\n'
        '{"aspects": ["x"]}\n{"document": "e", "aspects": "x"}\n'
    )
    assert label(pool, path) == ExitCode.DATA_QUALITY
    said = capsys.readouterr().err
    assert "a.jsonl:1: The aspects are no list of names" in said
    assert "a.jsonl:2: The pool has no document nowhere." in said
    assert "a.jsonl:3: The line names no document" in said
    assert covered(pool)["e"] == frozenset("x")
    (tmp_path / "a.txt").write_text("c x d yes\n")
    assert label(pool, tmp_path / "a.txt") == ExitCode.DATA_QUALITY
    (tmp_path / "a.csv").write_text("document,gain\nd,1\n")
    assert label(pool, tmp_path / "a.csv") == ExitCode.USAGE
    assert "The aspects in" in capsys.readouterr().err


def test_annotators_are_kept_apart_and_undone(pool, tmp_path):
    for annotator, names in (("ann", ["x", "y"]), ("bob", ["y"]), ("eve", ["y", "z"])):
        path = tmp_path / f"{annotator}.jsonl"
        path.write_text(json.dumps({"document": "d", "aspects": names}) + "\n")
        assert label(pool, path, "--annotator", annotator) == ExitCode.DONE
    assert covered(pool)["d"] == frozenset("y")
    assert main(["pool", "label", str(pool), "--prefer", "ann"]) == ExitCode.DONE
    (d,) = (document for document in documents(pool) if document.aspects)
    assert d.covered_aspects("ann") == frozenset("xy")
    assert main(["pool", "label", str(pool), "--undo", "bob"]) == ExitCode.DONE
    # Of two, what one of them found is not the most frequent.
    assert covered(pool)["d"] == frozenset("y")
    assert main(["pool", "label", str(pool), "--undo", "bob"]) == ExitCode.USAGE


JUDGE = """
import json, sys
aspects = json.loads(sys.argv[1])
for line in sys.stdin:
    asked = json.loads(line)
    name = asked["ids"].split()[-1]
    answer = {"document": asked["document"], "gain": 2}
    if name in aspects:
        answer["aspects"] = aspects[name]
    print(json.dumps(answer), flush=True)
"""


def test_a_judge_may_answer_with_aspects(pool, tmp_path, capsys):
    (tmp_path / "judge.py").write_text(JUDGE)
    answers = json.dumps(ASPECTS, separators=(",", ":"))
    command = f"{sys.executable} {tmp_path / 'judge.py'} '{answers}'"
    assert main(["pool", "judge", str(pool), "--command", command]) == ExitCode.DONE
    expected = {name: frozenset(names) for name, names in ASPECTS.items()}
    assert covered(pool) == {**expected, "h": None}
    # Answers are kept with their aspects.
    assert main(["pool", "label", str(pool), "--undo", "judge"]) == ExitCode.DONE
    assert set(covered(pool).values()) == {None}
    assert main(["pool", "judge", str(pool), "--command", command]) == ExitCode.DONE
    assert covered(pool) == {**expected, "h": None}
    bad = command.replace(answers, json.dumps({"d": "x"}, separators=(",", ":")))
    options = ("--annotator", "other", "--again", "--retries", "0")
    assert main(["pool", "judge", str(pool), "--command", bad, *options]) == ExitCode.DATA_QUALITY
    assert "its aspects are no list of names" in capsys.readouterr().err


def test_aspects_of_traces_are_in_the_pool_until_someone_labels():
    def document(*evidence, **given):
        return PoolDocument(Topic("t"), 1, "d", evidence, (), (), **given)

    plain, judged = Result(id="a"), Result(id="a", aspects=["x", "y"])
    assert document(plain).covered_aspects() is None
    assert document(plain, judged).covered_aspects() == frozenset("xy")
    assert document(judged, aspects={"ann": ()}).covered_aspects() == frozenset()
