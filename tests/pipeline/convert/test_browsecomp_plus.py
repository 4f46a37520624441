"""Citations, costs and judgments of BrowseComp-Plus's runs."""

import json

import pytest

from tests.pipeline.convert.importing import FIXTURES, import_and_count


def test_citations_costs_and_the_judgment_beside(tmp_path):
    run = json.loads((FIXTURES / "browsecomp_plus" / "run_770.json").read_text())
    steps = [{"type": "reasoning", "output": ["[9]"]}, *run["result"]]
    text = "Oslo [12][34, 12] says 1920 【56】, [see 7]. Confidence: 90%"
    opened = {"type": "tool_call", "tool_name": "get_document", "arguments": '{"docid": "x2"}'}
    steps.append(opened | {"output": json.dumps({"docid": "x2", "text": "..."})})
    steps.append({"type": "output_text", "output": text})
    usage = {"input_tokens": 100, "input_tokens_cached": 40, "output_tokens": 11}
    run |= {"result": steps, "usage": usage | {"total_tokens": 111}}
    (tmp_path / "run_a.json").write_text(json.dumps(run))
    judged = {"query_id": "770", "judge_result": {"correct": True, "confidence": 90.0}}
    (tmp_path / "run_a_eval.json").write_text(json.dumps(judged))
    found, counts = import_and_count([tmp_path / "run_a.json"], format="browsecomp-plus")
    assert [record["action"] for record in found] == ["search", "search", "open", "cite"]
    assert [result["ids"]["doc_id"] for result in found[3]["results"]] == ["12", "34", "56", "7"]
    assert [record["costs"] for record in found[:3]] == [
        {"tokens": 56.0, "tokens_cached": 20.0},
        {"tokens": 55.0, "tokens_cached": 20.0},
        {},
    ]
    assert [record["outcomes"] for record in found] == [{"correct": 1.0, "confidence": 90.0}] * 4
    assert (counts.calls, counts.cites, counts.skipped) == (2, 1, {})
    # The same if the pattern matches the judgment too.
    assert import_and_count(sorted(tmp_path.iterdir()), format="browsecomp-plus")[0] == found


@pytest.mark.parametrize(
    ("judged", "outcomes", "skipped"),
    [
        ({"correct": False, "confidence": None}, {"correct": 0.0}, 0),
        ({"parse_error": True}, None, 0),  # no answer that could be judged
        (None, None, 1),
    ],
)
def test_judgments_that_are_given(judged, outcomes, skipped, tmp_path):
    path = tmp_path / "evals.json"
    path.write_text(json.dumps({"query_id": "770", "judge_result": judged}))
    run = FIXTURES / "browsecomp_plus" / "run_770.json"
    found, counts = import_and_count([path, run], format="browsecomp-plus")
    assert [record.get("outcomes") for record in found] == [outcomes] * 2
    assert len(counts.skipped) == skipped


def test_a_damaged_judgment_is_counted(tmp_path):
    run = FIXTURES / "browsecomp_plus" / "run_770.json"
    (tmp_path / "run.json").write_text(run.read_text())
    (tmp_path / "run_eval.json").write_text('{"query_id": "770"')
    found, counts = import_and_count([tmp_path / "run.json"], format="browsecomp-plus")
    assert len(found) == 2
    assert list(counts.skipped) == ["JSON without a query_id"]


def test_tokens_of_anthropic_do_not_contain_the_cached(tmp_path):
    run = json.loads((FIXTURES / "browsecomp_plus" / "run_770.json").read_text())
    usage = {"input_tokens": 60, "input_tokens_cached": 40, "output_tokens": 10}
    run["usage"] = usage | {"total_tokens": 70}
    for restarts, tokens in ((0, [55.0, 55.0]), (2, [None, None])):
        run["metadata"]["pause_restarts"] = restarts
        (tmp_path / "run.json").write_text(json.dumps(run))
        found, _ = import_and_count([tmp_path / "run.json"], format="browsecomp-plus")
        assert [record["costs"].get("tokens") for record in found] == tokens
