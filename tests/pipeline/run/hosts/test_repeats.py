"""Repeats from the command line: means, terminal, report and gate, as the page says."""

import re
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest

import goodgain as gg
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.runs import rows, run, write_jsonl

PAGE = Path(__file__).parents[4] / "docs" / "repeats.md"
RUNS = {"a": "100", "b": "111", "c": "00", "d": "1"}  # the page's example: which runs pass
OPTIONS = ("--cluster", "query_id", "--pass", "CG >= 5")


def records():
    for query, passed in RUNS.items():
        for at, has_passed in enumerate(passed):
            yield {
                "conversation_id": f"{query}{at}",
                "iteration": 1,
                "attributes": {"query_id": query},
                "results": [{"gain": 3}, {"gain": 2 if has_passed == "1" else 0}],
            }


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repeats")
    traces = write_jsonl(folder / "traces.jsonl", records())
    assert run(folder / "out", [traces], *OPTIONS, "--max-i=1") == 0
    return folder / "out"


def test_means_are_those_of_the_page(output):
    means = {row["metric"]: row for row in rows(output, "means") if row["i"] is None}
    (line,) = re.findall(r"mean of the three.*", PAGE.read_text(encoding="utf-8"))
    written = [float(number) for number in re.findall(r"0\.\d+", line)]
    # The median of 3, 3, 2 and 1 runs is 2.
    names = [f"{kind}[CG >= 5]" for kind in ("pass@2", "pass^2", "flip_rate")]
    assert [means[name]["mean"] for name in names] == pytest.approx(written, abs=1e-6)
    for name in names:
        assert (means[name]["n"], means[name]["clusters"], means[name]["undefined"]) == (3, 3, 1)
    assert means["pass@1[CG >= 5]"]["mean"] == pytest.approx((1 / 3 + 1 + 0 + 1) / 4)
    assert "pass^3[CG >= 5]" not in means


def test_python_gives_the_same(output):
    scored = gg.evaluate(list(records()), cluster="query_id", pass_=["CG >= 5"], max_i=1)
    of_run = [row for row in rows(output, "means") if "[" in row["metric"]]
    of_python = [row for row in scored.means if "[" in row["metric"]]
    assert of_python == of_run
    assert len(of_run) == 5


def test_shown(output, capsys):
    report = (output / "report.html").read_text(encoding="utf-8")
    assert "Does it do it again?" in report
    assert "flip_rate" in report
    traces = [str(path) for path in output.parent.glob("*.jsonl")]
    assert run(output.parent / "again", traces, *OPTIONS) == 0
    lines = capsys.readouterr().out.splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("condition"))
    assert lines[at].split() == ["condition", "pass@1", "pass@2", "pass^2", "flip_rate"]
    assert lines[at + 2].split()[3:] == ["58.3", "%", "55.6", "%", "33.3", "%", "33.3", "%"]


def test_gate(output):
    def rule(metric, **bound):
        return {"metric": metric, "least_n": 3, **bound}

    verdict = gg.gate(
        gg.load(output),
        [
            rule("pass@2[CG >= 5]", at_least="50 %"),
            rule("pass^2[CG>=5]", at_least=0.8),
            rule("flip_rate[CG >= 5]", at_most="40 %"),
            "pass^2[CG >= 5] >= 30 %",
        ],
    )
    verdicts = [outcome["verdict"] for outcome in verdict.outcomes]
    assert verdicts == ["passed", "failed", "passed", "failed"]
    assert "n" in verdict.outcomes[-1]["reason"]  # too few clusters
    with pytest.raises(UsageError, match="has no value per conversation"):
        gg.gate(gg.load(output), ["pass^2[CG >= 5] drop <= 2 %"])


def repeat(passes):
    """Runs of queries, as lists of whether each of them passes."""
    for query, runs in enumerate(passes):
        for at, has_passed in enumerate(runs):
            yield {
                "conversation_id": f"{query}-{at}",
                "iteration": 1,
                "attributes": {"query_id": f"q{query}"},
                "results": [{"gain": 3}, {"gain": 2 if has_passed else 0}],
            }


def test_comparison_pairs_clusters():
    random = Random(4)
    before = [[random.random() < 0.4 for _ in range(3)] for _ in range(40)]
    after = [[has_passed or random.random() < 0.5 for has_passed in runs] for runs in before]
    options = {"cluster": "query_id", "pass_": ["CG >= 5"], "pass_k": [2], "max_i": 1}
    base, candidate = (gg.evaluate(list(repeat(passes)), **options) for passes in (before, after))
    name = "pass^2[CG >= 5]"
    compared = gg.compare(base, candidate, pair_by="query_id", primary="pass^2[CG>=5]")
    (row,) = (row for row in compared.rows if row["metric"] == name)
    by_query = [[float(all(pair)) for pair in combinations(runs, 2)] for runs in (*before, *after)]
    values = [sum(values) / len(values) for values in by_query]
    differences = np.array(values[40:]) - np.array(values[:40])
    assert (row["n_base"], row["family"], row["verdict"]) == (40, "primary", "better")
    assert row["base_mean"] == pytest.approx(base[name].mean) == pytest.approx(np.mean(values[:40]))
    assert row["difference"] == pytest.approx(differences.mean())
    assert row["stderr"] == pytest.approx(differences.std(ddof=1) / np.sqrt(40))
    assert any(row["metric"] == "flip_rate[CG >= 5]" for row in compared.rows)
    apart = gg.compare(base, candidate)
    assert not any("[" in row["metric"] for row in apart.rows)
    with pytest.raises(UsageError, match="have no metric"):
        gg.compare(base, candidate, metrics=[name])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pass_": ["CG >= 5"]}, "needs cluster"),
        ({"pass_": ["CG"], "cluster": "q"}, "is not a condition"),
        ({"pass_": ["CGG >= 1"], "cluster": "q"}, "did you mean CG"),
        ({"pass_k": [2], "cluster": "q"}, "needs pass_"),
        ({"pass_": ["CG >= 5"], "cluster": "q", "pass_k": [0]}, "must be from 1"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(UsageError, match=message):
        gg.evaluate(list(records()), **options)
