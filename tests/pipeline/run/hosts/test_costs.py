"""Costs in runs, in memory, in explanations, gates and comparisons."""

import json

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.transforms.core.metrics.costs import COSTS
from tests.core.scoring.test_costs import by_hand
from tests.pipeline.convert.steps import goodgain_run
from tests.pipeline.runs import SAMPLE, run, write_jsonl

SECOND = [{"iteration": 1, "costs": {"tokens": 50, "usd": 0.125}, "results": [("a", 3)]}]


def records():
    return by_hand("c") + by_hand("d", SECOND)


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    path = tmp_path_factory.mktemp("costs") / "traces.jsonl"
    lines = [
        json.dumps({**record, "timestamp": at * 1000, "record_id": str(at)})
        for at, record in enumerate(records())
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def costs_of(row):
    return {name: value for name, value in row.items() if name.startswith(("cost", "CG_per"))}


@pytest.mark.slow
class TestRun:
    @pytest.fixture(scope="class", params=["avro", "parquet", "jsonl"])
    @classmethod
    def run(cls, request, traces):
        folder = traces.parent / request.param
        words = ["--format", request.param, "--budget", "tokens=100,300", "--max-i", "3"]
        return folder, goodgain_run(folder, "--input", traces, *words)

    def test_each_cost_that_occurs_has_columns(self, run):
        folder, conversations = run
        assert costs_of(conversations["c"]) == {
            "cost.tokens": 600,
            "CG_per.tokens": 11 / 600,
            "cost.usd": None,
            "CG_per.usd": None,
        }
        assert costs_of(conversations["d"]) == {
            "cost.tokens": 50,
            "CG_per.tokens": 3 / 50,
            "cost.usd": 0.125,
            "CG_per.usd": 24,
        }
        rows = read_dataset(str(folder), "iterations")
        third = next(row for row in rows if row["conversation_id"] == "c" and row["i"] == 3)
        assert costs_of(third) == {
            "cost_i.tokens": 300,
            "cost_at_i.tokens": 600,
            "cost_i.usd": 0.25,
            "cost_at_i.usd": None,
        }

    def test_means_include_budgets_and_both_ratios(self, run):
        folder, _ = run
        means = {
            (row["metric"], row["i"], row["population"]): row
            for row in read_dataset(str(folder), "means")
        }
        assert means["cost.tokens", None, "all"]["mean"] == 325
        assert means["cost.usd", None, "all"]["undefined"] == 1
        assert means["CG_per_total.tokens", None, "all"]["mean"] == 14 / 650
        assert means["CG@tokens<=100", None, "all"]["mean"] == (5 + 3) / 2
        assert means["CG@tokens<=100", None, "reached"]["mean"] == 5
        assert means["GR@tokens<=300", None, "all"]["mean"] == (3 + 1) / 2
        assert means["cost_at_i.tokens", 3, "all"]["mean"] == 325

    def test_evaluate_gives_the_same_costs_in_memory(self, run):
        folder, conversations = run
        again = gg.evaluate(records(), budget=["tokens=100,300"], max_i=3)
        for row in again.conversations:
            assert costs_of(row) == costs_of(conversations[row["conversation_id"]])
        written = {
            (row["metric"], row["i"], row["population"]): (row["n"], row["mean"], row["ci_low"])
            for row in read_dataset(str(folder), "means")
        }
        assert written == {
            (row["metric"], row["i"], row["population"]): (row["n"], row["mean"], row["ci_low"])
            for row in again.means
        }


def test_costs_can_be_selected_or_turned_off():
    chosen = gg.evaluate(records(), cost=["usd"]).conversations[0]
    assert list(costs_of(chosen)) == ["cost.usd", "CG_per.usd"]
    assert costs_of(gg.evaluate(records(), cost="none").conversations[0]) == {}
    without = [{**record, "costs": {}} for record in records()]
    assert costs_of(gg.evaluate(without).conversations[0]) == {}


def test_warns_of_costs_whose_names_cannot_be_columns():
    odd = {"a.b": 1, "a-b": 2, "\N{GREEK SMALL LETTER MU}s": 3, "a__b": 4, "_a": 5, "": 6, "a_b": 7}
    found = gg.evaluate([{"conversation_id": "c", "iteration": 1, "costs": odd}])
    assert list(costs_of(found.conversations[0])) == ["cost.a_b", "CG_per.a_b"]
    warnings = found.manifest.warnings
    (warning,) = [warning for warning in warnings if warning.code == "unknown_fields"]
    assert warning.count == 6
    assert "'a.b'" in warning.message
    assert "'a_b'" not in warning.message


@pytest.mark.parametrize("chosen", ["none", ["tokens"]])
def test_does_not_warn_of_costs_that_are_not_selected(chosen):
    result = {"url": "https://example.com/a", "gain": 3}
    record = {"conversation_id": "c", "iteration": 1, "costs": {"a.b": 1}, "results": [result]}
    assert gg.evaluate([record], cost=chosen).manifest.warnings == ()
    assert gg.evaluate([record]).manifest.warnings != ()


def test_tiny_costs_do_not_end_a_run():
    run = gg.evaluate([{**records()[0], "costs": {"c": 1e-310}, "results": [{"gain": 3}]}])
    (row,) = run.means.where(metric="CG_per_total.c", population="all")
    assert (row["mean"], row["note"]) == (None, "too little was spent to divide by")


def test_a_cost_may_have_the_name_of_a_column():
    record = {"conversation_id": "c", "iteration": 1, "costs": {"at_i": 4, "tokens_i": 1}}
    metrics = {row["metric"] for row in gg.evaluate([record]).means}
    labels = [COSTS.metric(name).label for name in ("cost.at_i", "CG_per.at_i", "cost.tokens_i")]
    assert {"cost.at_i", "CG_per.at_i", "cost.tokens_i"} <= metrics
    assert labels == [
        "Cost (cost.at_i)",
        "Gain per unit of at_i (CG_per.at_i)",
        "Cost (cost.tokens_i)",
    ]


def test_a_budget_of_an_absent_cost_has_no_mean():
    found = gg.evaluate(records(), budget=["gpu=5"])
    (row,) = found.means.where(metric="CG@gpu<=5", population="all")
    assert (row["n"], row["undefined"], row["mean"]) == (0, 2, None)


def test_explain_shows_costs(traces, capsys):
    assert main(["explain", "d", "--input", str(traces), "--json"]) == 0
    explained = json.loads(capsys.readouterr().out)
    assert explained["conversation"]["CG_per.usd"] == 24
    assert explained["iterations"][0]["cost_at_i.tokens"] == 50
    assert main(["explain", "d", "--input", str(traces)]) == 0
    assert "CG_per.usd" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--cost a-b", "cost must be names of letters, digits and _, not 'a-b'"),
        ("--budget tokens", "'tokens' is not a budget"),
        ("--budget tokens=0", "'tokens=0' is not a budget"),
    ],
)
def test_rejects_invalid_costs_and_budgets(traces, words, message, capsys):
    assert main(["run", "--input", str(traces), "--output", "out", *words.split()]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
class TestGate:
    @pytest.fixture(scope="class")
    @classmethod
    def runs(cls, tmp_path_factory):
        folder = tmp_path_factory.mktemp("gate")
        for name, factor in (("base", 1), ("run", 2)):
            lines = [
                json.dumps(
                    {**record, "costs": {"tokens": factor * (10 * at + record["costs"]["tokens"])}}
                )
                for at, copy in enumerate("abcdefgh")
                for record in by_hand(copy)
            ]
            (folder / f"{name}.jsonl").write_text("\n".join(lines))
            goodgain_run(folder / name, "--input", folder / f"{name}.jsonl")
        return folder

    @pytest.mark.parametrize(
        ("rule", "code"),
        [
            ("cost.tokens <= 4000", 0),
            ("cost.tokens <= 1000", 4),
            ("CG_per.tokens drop <= 60 %", 0),
            ("CG_per.tokens drop <= 5 %", 4),
            ("cost.tokens rise <= 5 %", 4),
            ("cost.toke ns <= 5", 2),
            ("cost_i.tokens <= 5", 2),
            ("CG_per.tokens <= 5 %", 2),
        ],
    )
    def test_rules_give_the_exit_code(self, runs, tmp_path, rule, code):
        (tmp_path / "gate.yaml").write_text(f"least_n: 2\nrules:\n  - {rule}\n")
        words = ["gate", str(runs / "run"), "--config", str(tmp_path / "gate.yaml")]
        assert main([*words, "--baseline", str(runs / "base")]) == code

    def test_compare_accepts_cost_metrics(self, runs, capsys):
        words = ["compare", str(runs / "base"), str(runs / "run"), "--metrics", "CG_per.tokens"]
        assert main([*words, "--output", str(runs / "compared"), "--overwrite"]) in (0, 4)
        assert "CG_per.tokens" in capsys.readouterr().out


def test_a_misspelt_cost_is_reported(tmp_path, capsys):
    assert run(tmp_path / "out", [SAMPLE], "--cost", "tokens,tokns", "--max-rejected=2%") == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Costs:")]
    assert lines == ["Costs: no conversation has tokns in all its calls; is it misspelt?"]


def test_names_that_the_first_records_lack_are_told_before_the_work(tmp_path, capsys):
    call = {
        "conversation_id": "c", "iteration": 1, "attributes": {"market": "de"},
        "costs": {"usd": 1}, "outcomes": {"correct": 1}, "results": [{"id": "a", "gain": 3}],
    }  # fmt: skip
    traces = write_jsonl(tmp_path / "in.jsonl", [call])
    words = ["--slice", "market", "mrket,arm", "--cluster", "market", "--cost", "usd", "tokens"]
    words += ["--outcome", "correct", "corect", "--budget", "usd=1", "dollars=1"]
    assert run(tmp_path / "out", [traces], *words) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if "first records" in line] == [
        "goodgain: The first records have no attribute mrket; did you mean market?",
        "goodgain: The first records have no attribute arm; is it misspelt?",
        "goodgain: The first records have no cost tokens; is it misspelt?",
        "goodgain: The first records have no cost dollars; is it misspelt?",
        "goodgain: The first records have no outcome corect; did you mean correct?",
    ]


def test_a_cost_of_the_data_is_not_called_misspelt(tmp_path, capsys):
    """Nobody named it; if every record is rejected, nothing is known of costs."""
    call = {"conversation_id": "c", "costs": {"usd": 1}, "results": [{"id": "a", "gain": 3}]}
    traces = write_jsonl(
        tmp_path / "in.jsonl", [{**call, "iteration": 1}, {**call, "iteration": 2, "costs": {}}]
    )
    assert run(tmp_path / "out", [traces]) == 0
    assert "Costs: no conversation has usd in all its calls.\n" in capsys.readouterr().out
    run(tmp_path / "out", [traces], "--label-map", "2=1", "--overwrite")
    assert "Costs:" not in capsys.readouterr().out


def test_bounds_beside_budgets():
    """Gains within a budget have no bounds, and are the same as without those of other metrics."""
    options = {"budget": ["tokens=100,300"], "max_i": 3, "metrics": []}
    plain = gg.evaluate(records(), **options).means.to_dicts()
    bounded = gg.evaluate(records(), **options, bounds=True).means.to_dicts()
    assert [{**row, "worst": None, "best": None} for row in bounded] == plain
    with_bounds = {row["metric"] for row in bounded if row["best"] is not None}
    assert {"CG", "CG_at_i", "GR"} <= with_bounds
    assert not any("<=" in metric for metric in with_bounds)
