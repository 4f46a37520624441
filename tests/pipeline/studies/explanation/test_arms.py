"""One conversation in two arms: what each found that the other did not."""

import json
from importlib import resources
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.document.model import Heading
from goodgain.pipeline.results.pool_store import read_pool
from goodgain.pipeline.studies.explanation.arms import explain_arms
from goodgain.pipeline.studies.explanation.explain import explain_turn
from goodgain.pipeline.studies.explanation.records import gather
from goodgain.pipeline.views.arms import arms_document
from goodgain.transforms.core.config_text import load_rules
from goodgain.transforms.core.dedup.evidence import read_evidence
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.verification import verify
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.parsing import parse_mapping
from tests.adversarial import trace
from tests.pipeline.studies.explanation.test_explain import SCORING, call


def turn(records, scoring=SCORING):
    budget = MemoryBudget(None)
    calls = [parse_mapping(record) for record in records]
    return explain_turn(gather("c1", iter(calls), budget), scoring, budget)


def arms(mine, other):
    return explain_arms(turn(mine), turn(other))


def page(name, gain=None, **more):
    return {"url": f"https://docs.example/{name}", "gain": gain, **more}


def places(documents):
    return [document.place.text for document in documents]


def pairs(found):
    return [(document.input.place.text, document.against.place.text) for document in found.both]


MINE = [call(1, [page("a", 3), page("b", 0)]), call(2, [page("a", 3), page("c", 2)])]
OTHER = [call(1, [page("d", 4)]), call(3, [page("b?utm_source=x", 1)]), call(4, [page("d", 4)])]


def test_each_document_is_in_one_list_with_its_place_and_gain():
    found = arms(MINE, OTHER)
    assert places(found.only_input) == ["1.1.1", "2.1.2"]
    assert places(found.only_against) == ["1.1.1"]
    assert pairs(found) == [("1.1.2", "2.1.1")]
    (both,) = found.both
    assert (both.input.gain, both.against.gain) == (0, 1)
    assert [document.gain for document in found.only_input] == [3, 2]
    assert [document.good for document in (*found.only_input, both.against)] == [True, True, False]


def test_gain_by_iteration_ends_where_an_arm_ends():
    gains = [
        tuple(
            None if arm is None else (arm.G_i, arm.CG_at_i)
            for arm in (iteration.input, iteration.against)
        )
        for iteration in arms(MINE, OTHER).iterations
    ]
    assert gains == [((3, 3), (4, 4)), ((2, 5), (0, 4)), (None, (0, 4))]


def test_a_copy_is_evidence_of_its_document():
    url = "https://docs.example/a"
    mine = [call(1, [{"url": url, "title": "t"}, {"url": url, "ids": {"doc_id": "7"}}])]
    found = arms(mine, [call(1, [{"ids": {"doc_id": "7"}}])])
    assert pairs(found) == [("1.1.1", "1.1.1")]
    assert not found.only_input
    assert not found.only_against


def test_two_documents_of_one_arm_may_be_one_of_the_other():
    url, ids = "https://docs.example/a", {"doc_id": "7"}
    mine = [call(1, [{"url": url, "ids": ids}])]
    found = arms(mine, [call(1, [{"url": url}, {"ids": ids}])])
    assert pairs(found) == [("1.1.1", "1.1.1"), ("1.1.1", "1.1.2")]


def match_documents(mine, other):
    """Which documents of the other arm are one of mine, by a look at every pair (SPEC 4)."""
    return [
        index
        for index, duplicate in enumerate(other.duplicates)
        if duplicate is None
        and any(same(earlier, other.results[index]) for earlier in mine.results)
    ]


def same(earlier, later):
    one, two = read_evidence(earlier), read_evidence(later)
    shares = set(one.keys) & set(two.keys)
    equal = one.values == two.values and two.layout.identifies_alone
    return bool(shares or equal) and verify(one, two, SCORING.rules).duplicate


@pytest.mark.slow
def test_every_document_is_matched_as_by_a_look_at_every_pair():
    matches = 0
    for seed in range(40):
        random = Random(seed)
        records = [{**record, "turn": 1, "conversation_id": "c1"} for record in trace(random, 3)]
        mine = [records[0], *(record for record in records if random.random() < 0.5)]
        one, two = turn(mine), turn(records[len(records) // 2 :])
        found = explain_arms(one, two)
        assert len(found.both) == len(match_documents(one.turn, two.turn))
        matches += len(found.both)
        both = {each.input.place.text for each in found.both}
        assert not both & set(places(found.only_input))
        assert len(found.only_input) + len(both) == one.turn.duplicates.count(None)
        assert len(found.only_against) + len(found.both) == two.turn.duplicates.count(None)
    assert matches > 40


def test_an_arm_finds_all_of_its_own_documents():
    found = arms(MINE, MINE)
    assert pairs(found) == [("1.1.1", "1.1.1"), ("1.1.2", "1.1.2"), ("2.1.2", "2.1.2")]
    assert not found.only_input
    assert not found.only_against


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, records in {"mine": MINE, "other": OTHER}.items():
        lines = [json.dumps(record) + "\n" for record in records]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    stranger = json.dumps({**MINE[0], "conversation_id": "c2"})
    (tmp_path / "stranger.jsonl").write_text(stranger + "\n")
    unusable = json.dumps({"conversation_id": "c1", "iteration": -1})
    (tmp_path / "unusable.jsonl").write_text(unusable + "\n")


def explain(capsys, *options):
    code = main(["explain", "c1", "--input", "mine.jsonl", *options])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_the_command_prints_both_arms(files, capsys):
    code, out, _ = explain(capsys, "--against", "other.jsonl")
    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    assert "Only in input: 2 documents, 2 of them good" in out
    assert "In both: 1 document, 0 of them good" in out
    assert ["1.1.2", "0", "2.1.1", "1", "https://docs.example/b"] in lines
    assert ["Gain", "(CG)", "5", "4"] in lines


def test_documents_that_only_one_arm_calls_good_are_counted_for_each_arm():
    other = [call(1, [page("a", 1), page("b", 2), page("c", 4)])]
    blocks = arms_document(arms(MINE, other)).blocks
    assert Heading("In both: 3 documents, 2 of them good in input and 2 in against") in blocks


def test_json_has_both_rows_and_all_documents(files, capsys):
    code, out, _ = explain(capsys, "--against", "other.jsonl", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["input"]["CG"], found["against"]["CG"]) == (5, 4)
    assert found["iterations"][0]["against"] == {"G_i": 4, "CG_at_i": 4}
    assert found["both"][0]["against"]["place"] == {
        "i": 2, "iteration": 3, "call_position": 0, "rank": 1,
    }  # fmt: skip


def test_a_finished_run_is_an_arm_if_it_was_scored_alike(files, capsys):
    assert main(["run", "other.jsonl", "--output", "out", "--quiet"]) == 0
    capsys.readouterr()
    of_run = explain(capsys, "--against", "out")
    assert of_run[0] == 0
    assert of_run == explain(capsys, "--against", "other.jsonl")
    assert explain(capsys, "--against", "out", "--relevance-threshold", "2")[0] == 0  # the default
    code, _, err = explain(capsys, "--against", "out", "--good-gain-threshold", "3")
    assert code == 2
    assert "scored with --good-gain-threshold 2, and --input with 3" in err
    Path("qrels.txt").write_text("c1 0 a 3\n")
    code, _, err = explain(capsys, "--against", "out", "--qrels", "qrels.txt")
    assert code == 2
    assert "--input has its labels from --qrels, and this run has not" in err
    shipped = resources.files("goodgain.configs").joinpath("dedup.yaml").read_text()
    Path("rules.yaml").write_text(shipped.replace("policy: full", "policy: ids"))
    code, _, err = explain(capsys, "--against", "out", "--rules", "rules.yaml")
    assert code == 2
    assert "other rules for duplicates" in err


def test_the_files_of_a_finished_run_are_read_and_labelled_as_by_the_run(files, capsys):
    record = {"conversation_id": "c1", "step": 1, "results": [page("a", "useful")]}
    Path("words.jsonl").write_text(json.dumps(record) + "\n")
    reading = ("--map", "iteration=step", "--label-map", "useful=4")
    assert main(["run", "words.jsonl", "--output", "words", "--quiet", *reading]) == 0
    code, out, _ = explain(capsys, "--against", "words")
    assert code == 0
    assert ["Gain", "(CG)", "5", "4"] in [line.split() for line in out.splitlines()]


def test_an_arm_without_usable_records_found_nothing(files, capsys):
    code, out, _ = explain(capsys, "--against", "unusable.jsonl")
    assert code == 0
    assert "In both: nothing" in out


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("stranger.jsonl", "--against stranger.jsonl: There is no conversation c1"),
        ("./mine.jsonl", "is the same input as --input"),
        ("missing.jsonl", "No file matches missing.jsonl"),
    ],
)
def test_an_arm_that_cannot_be_used_is_named(files, capsys, against, message):
    code, _, err = explain(capsys, "--against", against)
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("given", "what"),
    [({}, "traces"), ({"labels": [{"conversation_id": "c1", "gain": 4}]}, "labels")],
    ids=["traces", "labels"],
)
def test_a_run_of_which_something_was_in_memory_is_refused(files, capsys, given, what):
    gg.evaluate("other.jsonl" if given else MINE, **given).save("saved")
    code, _, err = explain(capsys, "--against", "saved")
    assert code == 2
    assert f"--against saved: {what} of this run were in memory" in err


def test_rules_that_look_for_no_duplicates_match_nothing():
    rules = compile_rules(load_rules(None).model_copy(update={"policy": "none"}))
    with pytest.raises(UsageError, match="policy: none"):
        explain_arms(turn(MINE, replace(SCORING, rules=rules)), turn(OTHER))


@pytest.mark.parametrize("other", ["run", "folder"])
def test_python_shows_what_the_command_prints(files, capsys, other):
    _, out, _ = explain(capsys, "--against", "other.jsonl")
    run, against = gg.evaluate(MINE), gg.evaluate("other.jsonl")
    if other == "folder":
        against.save("saved")
        against = "saved"
    assert run.explain("c1", against=against).split() == out.split()


def test_python_refuses_runs_that_cannot_be_held_side_by_side(files):
    run = gg.evaluate(MINE)
    with pytest.raises(UsageError, match=r"not scored alike.*good_gain_threshold \(2 against 3\)"):
        run.explain("c1", against=gg.evaluate(OTHER, good_gain_threshold=3))
    with pytest.raises(UsageError, match="In the other run: There is no conversation c1"):
        run.explain("c1", against=gg.evaluate("stranger.jsonl"))
    with pytest.raises(UsageError, match="pair or against, not both"):
        run.explain("c1", pair=("1.1.1", "2.1.1"), against=run)


@pytest.mark.slow
def test_arms_of_a_pool_have_its_labels(files, capsys):
    """The pool gives b the label 4, which is 0 in one arm and 1 in the other."""
    words = ("--run", "mine=mine.jsonl", "--run", "other=other.jsonl", "--output", "pool")
    assert main(["pool", "build", *words, "--quiet"]) == 0
    (document,) = (
        document.document
        for document in read_pool("pool").documents()
        if any("docs.example/b" in str(evidence) for evidence in document.evidence)
    )
    Path("labels.jsonl").write_text(json.dumps({"document": document, "gain": 4}) + "\n")
    words = ("--from", "labels.jsonl", "--annotator", "ann", "--quiet")
    assert main(["pool", "label", "pool", *words]) == 0
    capsys.readouterr()
    code, out, _ = explain(capsys, "--pool", "pool", "--against", "other.jsonl", "--json")
    (both,) = json.loads(out)["both"]
    assert code == 0
    assert (both["input"]["gain"], both["against"]["gain"]) == (4, 4)
    assert both["input"]["good"]
    assert main(["run", "other.jsonl", "--pool", "pool", "--output", "out", "--quiet"]) == 0
    assert explain(capsys, "--pool", "pool", "--against", "out", "--json")[1] == out
    code, _, err = explain(capsys, "--against", "out")
    assert code == 2
    assert "this run has its labels from --pool, and --input has not" in err
