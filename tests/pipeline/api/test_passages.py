"""The page about passages says what runs compute; options, explanations and pools of passages."""

import json
import re
from pathlib import Path

import pytest
import yaml

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.transforms.core.dedup.rules_file import read_shipped_rules
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.runs import run, write_jsonl

PAGE = Path(__file__).parents[3] / "docs" / "passages.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(language):
    return [code for name, code in BLOCK.findall(PAGE.read_text("utf-8")) if name == language]


@pytest.fixture(scope="module")
def calls():
    """The calls of the page."""
    variables = {}
    (code,) = blocks("python")
    exec(code, variables)
    return variables["calls"]


def test_the_numbers_of_the_page(calls):
    (code,) = blocks("python")
    shown = re.findall(r"^(\S.*)  # (.+)$", code, re.MULTILINE)
    assert len(shown) == 3
    for expression, value in shown:
        assert repr(eval(expression, {"gg": gg, "calls": calls})) == value


@pytest.mark.parametrize(
    ("block", "ids"),
    [(0, ("D7#0_123", "D7#124_250")), (1, ("ibmcld_05672-7-1923", "ibmcld_05672-1801-3000"))],
)
def test_ids_of_passages_become_those_of_their_document(tmp_path, block, ids):
    rules = tmp_path / "rules.yaml"
    rules.write_text(read_shipped_rules(), "utf-8")
    content = yaml.safe_load(rules.read_text("utf-8")) | yaml.safe_load(blocks("yaml")[block])
    rules.write_text(yaml.safe_dump(content))
    calls = [{"conversation_id": "c", "iteration": 1, "results": [
        {"ids": {"doc_id": id_}, "content": f"the text of {id_}", "gain": 2} for id_ in ids
    ]}]  # fmt: skip
    assert gg.evaluate(calls)["UR"].mean == 2
    assert gg.evaluate(calls, rules=str(rules))["UR"].mean == 1
    assert gg.evaluate(calls, rules=str(rules), unit="passage")["UR"].mean == 2


def test_an_explanation_says_which_passage_raised_a_document(tmp_path, calls, capsys):
    traces = write_jsonl(tmp_path / "traces.jsonl", calls)
    command = ["explain", "c", "--input", traces, "--document-label", "best"]
    assert main(command) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "raises the label of its document from 0 to 3, which adds gain 3" in text
    assert "raises the label of its document from 3 to 4, which adds gain 1" in text
    assert main([*command, "--json"]) == 0
    explained = json.loads(capsys.readouterr().out)
    raised = [
        (iteration["i"], result["rank"], result["raised"])
        for iteration in explained["iterations"]
        for call in iteration["search_calls"]
        for result in call["results"]
        if "raised" in result
    ]
    assert raised == [
        (1, 2, {"before": 0, "label": 3, "gain": 3}),
        (2, 1, {"before": 3, "label": 4, "gain": 1}),
    ]


def test_an_explanation_names_the_step_that_tells_passages_apart(tmp_path, calls, capsys):
    traces = write_jsonl(tmp_path / "traces.jsonl", calls)
    assert main(["explain", "c", "--input", traces, "--unit", "passage"]) == 0
    assert "by the step that says so: passage 10" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("other", [{"qrels": "q.txt"}, {"pool": "pool"}, {"bounds": True}])
def test_the_best_label_excludes_labels_of_documents(calls, other):
    with pytest.raises(
        UsageError, match=r"beside the best label so far \(document_label=\"best\"\)"
    ):
        gg.evaluate(calls, document_label="best", **other)


@pytest.mark.slow
def test_runs_with_other_units_or_labels_are_not_compared(tmp_path, calls, capsys):
    traces = write_jsonl(tmp_path / "traces.jsonl", calls)
    assert run(tmp_path / "documents", [traces]) == 0
    for name, value in (("unit", "passage"), ("document_label", "best")):
        assert run(tmp_path / value, [traces], f"--{name.replace('_', '-')}", value) == 0
        capsys.readouterr()
        assert main(["compare", str(tmp_path / "documents"), str(tmp_path / value)]) == 2
        assert f"{name} (" in capsys.readouterr().err


@pytest.mark.slow
def test_a_pool_is_of_documents_or_of_passages(tmp_path, calls, capsys):
    traces, pool = write_jsonl(tmp_path / "traces.jsonl", calls), str(tmp_path / "pool")
    build = ["pool", "build", "--run", f"a={traces}"]
    assert main([*build, "--output", pool, "--unit", "passage"]) == 0
    assert main([*build, "--update", pool, "--replace"]) == 2
    assert "holds passages, not documents: give --unit passage" in capsys.readouterr().err
    with pytest.raises(UsageError, match="holds passages, not documents"):
        gg.evaluate(calls, pool=pool)
    found = gg.evaluate(calls, pool=pool, run_name="a", unit="passage")
    assert found["CG"].mean == 7
    assert found["pool_recall"].mean == 1
