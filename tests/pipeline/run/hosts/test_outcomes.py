"""Outcomes from the command line and Python: columns, relations, texts, gate, comparison."""

import re
from pathlib import Path

import fastavro
import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.finished_run import read_run
from goodgain.pipeline.studies.comparison.comparability import find_mismatches
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.runs import manifest, rows, run, write_jsonl

PAGE = (Path(__file__).parents[4] / "docs" / "outcomes.md").read_text(encoding="utf-8")
# The page's example: cluster, gains, whether the answer was right.
ANSWERS = [("a", 5, 1), ("b", 3, 1), ("b", 1, 1), ("a", 3, 0), ("b", 0, 0)]
GAINS = {5: [3, 2], 3: [3], 1: [1], 0: [0]}


def records(threshold_of_one=True):
    for at, (cluster, gain, right) in enumerate(ANSWERS):
        yield {
            "conversation_id": f"c{at}",
            "iteration": 1,
            "attributes": {"query_id": cluster},
            "results": [{"gain": label} for label in GAINS[gain]],
            "outcomes": {"correct": right, "rating": 0.5 + right / 4},
        }
    yield {
        "conversation_id": "idle",
        "iteration": 1,
        "action": "cite",
        "attributes": {"query_id": "a"},
        "outcomes": {"correct": 1},
    }


OPTIONS = ("--good-gain-threshold", "1", "--max-i", "1", "--format", "avro")


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outcomes")
    traces = write_jsonl(folder / "traces.jsonl", records())
    assert run(folder / "out", [traces], *OPTIONS) == 0
    return folder / "out"


def relation(found, metric="CG", population="all", outcome="outcome.correct"):
    (row,) = (
        row
        for row in found
        if (row["outcome"], row["metric"], row["population"], row["slice"])
        == (outcome, metric, population, {})
    )
    return row


def test_numbers_are_those_of_the_page(output):
    row = relation(rows(output, "outcome_relations"))
    assert f"AUC = 4.5 / 6 = {row['auc']}" in PAGE
    assert f"the standard error {row['stderr']:.6f}." in PAGE
    assert f"the interval {row['ci_low']:.6f} to {row['ci_high']:.6f}" in PAGE
    clustered = gg.evaluate(
        list(records()), cluster="query_id", good_gain_threshold=1, max_i=1
    ).outcome_relations
    row = relation(clustered)
    assert row["clusters"] == 2
    assert f"{row['ci_low']:.6f} to {row['ci_high']:.6f}" in PAGE


def test_columns(output):
    found = {row["conversation_id"]: row for row in rows(output, "conversations")}
    assert [found[f"c{at}"]["outcome.correct"] for at in range(5)] == [1, 1, 1, 0, 0]
    assert (found["idle"]["outcome.correct"], found["idle"]["CG"]) == (1, None)
    assert found["c0"]["outcome.rating"] == 0.75
    path = next((output / "conversations").glob("*.avro"))
    with path.open("rb") as file:
        names = [field["name"] for field in fastavro.reader(file).writer_schema["fields"]]
    assert {"outcome__correct", "outcome__rating"} <= set(names)
    assert manifest(output)["outcomes"] == ["correct", "rating"]


def test_python_gives_the_same(output, tmp_path):
    scored = gg.evaluate(list(records()), good_gain_threshold=1, max_i=1)
    assert list(scored.outcome_relations) == rows(output, "outcome_relations")
    of_outcomes = [row for row in rows(output, "means") if row["metric"].startswith("outcome.")]
    assert [row for row in scored.means if row["metric"].startswith("outcome.")] == of_outcomes
    scored.save(tmp_path / "saved")
    again = gg.load(tmp_path / "saved")
    assert list(again.outcome_relations) == list(scored.outcome_relations)
    assert list(again.conversations) == list(scored.conversations)


def test_everyone_has_those_without_search(output):
    row = relation(rows(output, "outcome_relations"), "GR", "everyone")
    assert (row["n_one"], row["positive_one"]) == (4, 3)
    assert (row["n_zero"], row["positive_zero"]) == (2, 1)


def test_shown(output, capsys):
    report = (output / "report.html").read_text(encoding="utf-8")
    assert 'id="outcomes"' in report
    assert "reading failed" in report
    assert report.count('class="range') > 5
    traces = [str(output.parent / "traces.jsonl")]
    assert run(output.parent / "again", traces, *OPTIONS) == 0
    out = capsys.readouterr().out
    assert "Nothing that was measured goes with correct" in out
    (line,) = re.findall(r"good material found.*", out)
    assert line.split()[3:] == ["3", "(50.0", "%)", "1", "(16.7", "%)"]


def test_an_outcome_is_related_to_other_outcomes_but_not_to_itself(output):
    found = rows(output, "outcome_relations")
    row = relation(found, "outcome.rating")
    assert (row["n"], row["mean_one"], row["mean_zero"], row["auc"]) == (5, 0.75, 0.5, 1)
    assert not any(row["metric"] == row["outcome"] for row in found)


def test_an_outcome_that_no_conversation_has_is_told(capsys, tmp_path):
    """Even one that only a conversation without search has is known."""
    several = [*records()]
    several[-1]["outcomes"] = {"late": 1}
    traces = write_jsonl(tmp_path / "t.jsonl", several)
    assert run(tmp_path / "out", [traces], "--outcome", "corect", "rating", "late") == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Outcomes:")]
    assert lines == ["Outcomes: no conversation has corect; is it misspelt?"]


def test_predictors_in_one_sentence(capsys, tmp_path):
    several = []
    for at in range(60):
        right = at % 3 == 0
        gains = [3] * (3 if right or at % 7 == 0 else 1) + [0, 0]
        one = {"conversation_id": f"c{at}", "iteration": 1, "outcomes": {"correct": int(right)}}
        several.append({**one, "results": [{"gain": gain} for gain in gains]})
    assert run(tmp_path / "out", [write_jsonl(tmp_path / "t.jsonl", several)], "--max-i=1") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert re.search(
        r"Conversations with a right answer had gathered more: CG predicts it best "
        r"\(AUC 0\.93, 0\.85\.\.0\.97\); calls, SRR and N say nothing\.",
        out,
    )


def test_bounds_and_directions(output):
    scored = gg.evaluate(
        list(records()), outcome=["rating>=0.7", "correct:lower"], good_gain_threshold=1, max_i=1
    )
    assert [row["outcome.rating"] for row in scored.conversations] == [1, 1, 1, 0, 0, None]
    assert scored["outcome.rating"].interval == "wilson"
    assert {row["outcome"] for row in scored.outcome_relations} == {
        "outcome.rating",
        "outcome.correct",
    }
    differing = [str(mismatch) for mismatch in find_mismatches(scored.manifest, read_run(output))]
    assert differing == [
        "outcome correct (correct:lower against correct)",
        "outcome rating (rating>=0.7 against rating)",
    ]
    none = gg.evaluate(list(records()), outcome="none")
    assert "outcome.correct" not in none.conversations[0]
    with pytest.raises(UsageError, match="no outcomes"):
        _ = none.outcome_relations


def test_gate_and_comparison(output):
    loaded = gg.load(output)
    rule = {"metric": "outcome.correct", "at_least": 0.6, "least_n": 5}
    verdict = gg.gate(loaded, [rule, {**rule, "at_least": 0.7}])
    assert [outcome["verdict"] for outcome in verdict.outcomes] == ["passed", "failed"]
    worse = [{**record, "outcomes": {"correct": 0}} for record in records()]
    candidate = gg.evaluate(worse, good_gain_threshold=1, max_i=1)
    compared = gg.compare(loaded, candidate, metrics=["outcome.correct"])
    (row,) = (row for row in compared.rows if row["metric"] == "outcome.correct")
    assert row["base_mean"] == pytest.approx(0.6)
    assert row["candidate_mean"] == 0


def test_a_comparison_decides_on_the_outcomes_that_both_runs_have(capsys, tmp_path):
    """Beside the headline, and only corrected among its tests."""
    folders = []
    for name, rights in (("base", 20), ("candidate", 55)):
        several = []
        for at in range(60):
            outcomes = {"correct": int(at < rights), name: at}
            one = {"conversation_id": f"c{at}", "iteration": 1, "outcomes": outcomes}
            several.append({**one, "results": [{"id": "a", "gain": at % 4}]})
        traces = write_jsonl(tmp_path / f"{name}.jsonl", several)
        assert run(tmp_path / name, [traces], "--max-i=1") == 0
        folders.append(str(tmp_path / name))
    capsys.readouterr()
    assert main(["compare", *folders]) == 0
    out = capsys.readouterr().out
    (line,) = re.findall(r"Outcome correct \(outcome.correct\) +0\.333 +0\.917.*", out)
    assert " better " in line
    assert "Only the candidate has Outcome candidate (outcome.candidate): not compared." in out
    compared = gg.compare(*folders)
    at_end = [row for row in compared.rows if row["i"] is None]
    families = {row["metric"]: row["family"] for row in at_end}
    assert (families["CG"], families["outcome.correct"]) == ("primary", "declared")
