"""Why two results are one document or two, step by step."""

import json
from random import Random

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.studies.explanation.explain import explain_turn
from goodgain.pipeline.studies.explanation.records import gather
from goodgain.transforms.core.config_text import load_rules
from goodgain.transforms.core.dedup.evidence import read_evidence
from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.verification import list_decisions, verify
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.parsing import parse_mapping
from tests.adversarial import trace
from tests.pipeline.runs import write_jsonl
from tests.pipeline.studies.explanation.test_explain import SCORING, call

TEXT = "The budget of the third quarter went to the warehouse in Bremen, which needed a new roof."


def explain(*results, pair=("1.1.1", "1.1.2")):
    calls = [parse_mapping(call(1, results))]
    budget = MemoryBudget(None)
    gathered = gather("c1", iter(calls), budget)
    return explain_turn(gathered, SCORING, budget, pair=pair).explanation


def steps(*results):
    """What each step says, by its name."""
    return {step.step: step.same for step in explain(*results).pair.steps}


def test_an_id_in_common_decides_before_the_different_titles():
    pair = explain(
        {"entity_type": "File", "ids": {"file_id": "f"}, "title": "a"},
        {"entity_type": "File", "ids": {"file_id": "f"}, "title": "b"},
    ).pair
    assert (pair.same, pair.steps[pair.decided_by].step) == (True, "ids")
    assert {step.step: step.same for step in pair.steps} == {
        "type": None, "ids": True, "url": None, "fields": False, "generic_id": None,
        "identical": None,
    }  # fmt: skip
    assert pair.keys == ["id:file_id"]
    assert pair.steps[3].reason == "different title"
    assert pair.copy_of == pair.first


def test_different_ids_decide_although_the_texts_are_equal():
    pair = explain(
        {"entity_type": "File", "ids": {"file_id": "f"}, "snippet": TEXT},
        {"entity_type": "File", "ids": {"file_id": "g"}, "snippet": TEXT},
    ).pair
    assert (pair.same, pair.steps[pair.decided_by].step) == (False, "ids")
    (compared,) = pair.steps[1].compared
    assert (compared.first, compared.second, compared.agrees) == ("f", "g", False)
    assert pair.steps[3].same  # would have decided otherwise
    assert pair.copy_of is None


def test_an_attribute_that_one_lacks_decides_nothing():
    found = explain({"url": "https://a.example/x", "title": "t"}, {"title": "t"}).pair
    (url,) = found.steps[2].compared
    assert (url.first, url.second, url.agrees) == ("a.example/x", None, None)
    assert found.decided_by is None
    assert not found.same


def test_texts_are_those_of_results_and_not_of_their_fields():
    first = {"title": "t", "url": "https://a.example/x", "fields": {"title": "ignored"}}
    pair = explain(first, {"title": "t", "url": "https://a.example/x"}).pair
    (title,) = pair.steps[3].compared
    assert (title.first, title.second, title.agrees) == ("t", "t", True)


def test_results_without_a_key_in_common_are_never_compared():
    pair = explain({"title": "t", "url": "https://a.example/x"}, {"title": "u"}).pair
    assert pair.keys == []


@pytest.mark.parametrize("unit", ["document", "passage"])
@pytest.mark.parametrize("seed", range(8))
def test_the_first_step_that_can_decide_is_the_verdict(seed, unit):
    rules = compile_rules(load_rules(None), unit)
    fingerprinter = Fingerprinter(rules)
    calls = [parse_mapping(record) for record in trace(Random(seed), 2)]
    read = [
        read_evidence(result)
        for each in calls
        for result in fingerprinter.call_fingerprint(each, False).results
    ]
    for first in read:
        for second in read:
            said = [
                decision
                for _, decision in list_decisions(first, second, rules)
                if decision is not None
            ]
            verdict = verify(first, second, rules)
            assert (said[0] if said else None) == (
                None if verdict.step.value == "inconclusive" else verdict
            )


@pytest.mark.parametrize("seed", range(12))
def test_near_misses_are_listed_with_places_and_as_counted(seed):
    for conversation_id in {record["conversation_id"] for record in trace(Random(seed), 2)}:
        calls = [parse_mapping(record) for record in trace(Random(seed), 2)]
        budget = MemoryBudget(None)
        gathered = gather(conversation_id, iter(calls), budget)
        found = explain_turn(gathered, SCORING, budget).explanation
        listed = {pair.step for pair in found.near_miss_pairs}
        assert listed <= set(found.near_misses)
        assert bool(listed) == bool(found.near_misses)


@pytest.mark.parametrize(
    ("pair", "message"),
    [(("1.1.1", "1.1.9"), "no result 1.1.9"), (("1.1.2", "1.1.2"), "Both results are 1.1.2")],
)
def test_places_without_a_result_are_refused(pair, message):
    with pytest.raises(UsageError, match=message):
        explain({"title": "t"}, {"title": "u"}, pair=pair)


def test_the_command_prints_each_step(tmp_path, capsys):
    results = [
        {"entity_type": "File", "ids": {"file_id": file_id}, "title": "The budget", "snippet": TEXT}
        for file_id in "fg"
    ]
    traces = tmp_path / "traces.jsonl"
    traces.write_text(json.dumps(call(1, results)) + "\n")
    words = ["explain", "c1", "--input", str(traces)]
    assert main([*words, "--pair", "1.1.1", "1.1.2"]) == 0
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert lines[0] == "1.1.1 and 1.1.2 of c1 are two documents: different ids.file_id"
    assert (
        "1. Ids of the type (rules of File): decides: two documents, different ids.file_id" in lines
    )
    assert any(line.split() == ["ids.file_id", "f", "g", "different"] for line in lines)
    assert any(
        line.startswith("3. Fields (rules of File): would have decided: the same") for line in lines
    )
    assert lines[-1] == "In the run 1.1.2 is a document of its own."
    assert main(words) == 0
    assert ["1.1.2", "1.1.1", "title", "ids"] in [
        line.split() for line in capsys.readouterr().out.splitlines()
    ]
    assert main([*words, "--pair", "1.1.2", "1.1.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pair"]["same"] is False


def test_python_shows_what_the_command_prints(tmp_path, capsys):
    records = [call(1, [{"title": "t", "url": "https://a.example/x"}, {"title": "t"}])]
    traces = write_jsonl(tmp_path / "traces.jsonl", records)
    assert main(["explain", "c1", "--input", traces, "--pair", "1.1.1", "1.1.2"]) == 0
    found = gg.evaluate(records, allow_unlabelled=True).explain("c1", pair=("1.1.1", "1.1.2"))
    assert found.split() == capsys.readouterr().out.split()


def test_a_pair_and_another_arm_exclude_each_other(tmp_path, capsys):
    traces = write_jsonl(tmp_path / "t.jsonl", [])
    words = ["explain", "c1", "--input", str(traces), "--pair", "1.1.1", "1.1.2"]
    assert main([*words, "--against", str(traces)]) == 2
    assert capsys.readouterr().err.endswith(
        "--pair and --against exclude each other: give one of the two.\n"
    )
