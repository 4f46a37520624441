"""A user's metric is computed, averaged, compared, gated and shown like those of the package."""

import json
import pickle
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.document.numbers import mean_interval_text
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.finished_run import read_dataset, read_manifest
from goodgain.pipeline.views.pages.data.definitions import glossary
from goodgain.transforms.core.metrics.own import load_own_metrics
from goodgain.transforms.core.metrics.own_names import check_names
from goodgain.transforms.core.metrics.prefix import prefixes
from goodgain.transforms.core.metrics.turn import IterationCounts, Turn

SOURCE = '''
import goodgain


@goodgain.metric(unit="results", words="Best iteration", whole=True)
def best(prefix):
    """The most good results that one iteration found."""
    return max((iteration.good for iteration in prefix.iterations), default=0)
'''
RECORDS = [
    {"conversation_id": "a", "iteration": 1, "results": [{"id": "x", "gain": 3}]},
    {
        "conversation_id": "a",
        "iteration": 2,
        "results": [{"id": "y", "gain": 3}, {"id": "z", "gain": 2}],
    },
    {"conversation_id": "b", "iteration": 1, "results": [{"id": "x", "gain": 0}]},
]
GATE = """
least_n: 1
rules:
  - metric: best
    at_least: 0.5
  - metric: best_at_i
    i: 2
    population: all
    at_least: 1
"""


@gg.metric(unit="results", words="Best iteration", whole=True)
def most(prefix: gg.Prefix) -> int:
    """The most good results that one iteration found."""
    return max((iteration.good for iteration in prefix.iterations), default=0)


@pytest.fixture
def traces(tmp_path):
    (tmp_path / "mine.py").write_text(SOURCE)
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    return path


def run(tmp_path, traces, *options):
    metrics = f"--metrics=ndcg@10,{tmp_path / 'mine.py'}:best"
    arguments = ["--input", str(traces), "--output", str(tmp_path / "out"), "--quiet", metrics]
    return main(["run", *arguments, *options])


def means_of(rows, name):
    return {
        (row["i"], row["population"]): (row["n"], row["mean"])
        for row in rows
        if row["metric"] == name
    }


def test_a_metric_of_python_has_columns_means_and_curves():
    run = gg.evaluate(RECORDS, metrics=["ndcg@10", most], max_i=2)
    assert [row["most"] for row in run.conversations] == [2, 0]
    assert [row["most_at_i"] for row in run.iterations] == [1, 2, 0]
    assert means_of(run.means, "most") == {(None, "all"): (2, 1.0)}
    assert means_of(run.means, "most_at_i") == {
        (1, "reached"): (2, 0.5), (1, "all"): (2, 0.5),
        (2, "reached"): (1, 2.0), (2, "all"): (2, 1.0),
    }  # fmt: skip


@pytest.mark.slow
def test_a_metric_of_a_file_is_in_every_output_of_a_run(tmp_path, traces, capsys):
    (tmp_path / "gate.yaml").write_text(GATE)
    assert run(tmp_path, traces, "--gate", str(tmp_path / "gate.yaml")) == ExitCode.DONE
    out = str(tmp_path / "out")
    rows = {row["conversation_id"]: row["best"] for row in read_dataset(out, "conversations")}
    assert rows == {"a": 2, "b": 0}
    assert means_of(read_dataset(out, "means"), "best")[None, "all"] == (2, 1.0)
    assert "Best iteration" in (tmp_path / "out" / "report.html").read_text()
    (described,) = read_manifest(out)["own_metrics"]
    assert (described["name"], described["unit"]) == ("best", "results")
    assert gg.load(out).conversations[0]["best"] == 2
    compared = str(tmp_path / "compared")
    assert main(["compare", out, out, "--metrics", "best", "--output", compared]) == ExitCode.DONE
    rows = list(read_dataset(compared, "comparison"))
    assert {(row["metric"], row["i"]) for row in rows} >= {("best", None), ("best_at_i", 1)}
    assert [row["base_mean"] for row in rows if row["i"] is None] == [1.0]
    capsys.readouterr()
    assert main(["compare", out, out, "--output", compared, "--overwrite"]) == ExitCode.DONE
    assert "Best iteration" in capsys.readouterr().out
    families = {row["metric"]: row["family"] for row in read_dataset(compared, "comparison")}
    assert families["CG"] == "primary"
    assert families["best"] == "declared"
    assert families["best_at_i"] == "further"


def test_pages_list_it_beside_the_metrics_of_every_run():
    words = glossary(["ndcg@10", "package:most"], ())
    assert [definition.metric.name for definition in words.ranking] == ["ndcg@10"]
    assert words.measures[-1].label == "Best iteration (most)"
    assert "most_at_i" in {definition.metric.name for definition in words.so_far}


PIPELINE = """
import sys
from pathlib import Path
from types import SimpleNamespace

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

import goodgain as gg

traces, metric, found = sys.argv[1:]
options = PipelineOptions(["--direct_running_mode=multi_processing", "--direct_num_workers=1"])
scoring = gg.Scoring.default(["ndcg@10", metric])
with beam.Pipeline(FnApiRunner(), options=options) as pipeline:
    scores = (pipeline | gg.ReadTraces([traces])).records | gg.ScoreConversations(scoring)
    _ = (
        scores.scores
        | gg.GlobalMeans(scoring)
        | beam.Filter(lambda row: row.metric == "best")
        | beam.Map(lambda row: f"{row.n} {row.mean}")
        | beam.io.WriteToText(found, shard_name_template="")
    )
"""


@pytest.mark.slow
def test_workers_in_other_processes_compute_it(tmp_path, traces):
    arguments = (str(traces), f"{tmp_path / 'mine.py'}:best", str(tmp_path / "found"))
    done = subprocess.run([sys.executable, "-c", PIPELINE, *arguments], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert (tmp_path / "found").read_text().splitlines() == ["2 1.0"]


def test_a_metric_of_a_file_travels_as_its_text(tmp_path, traces):
    (best,) = load_own_metrics([f"{tmp_path / 'mine.py'}:best"])
    pickled = pickle.dumps(best.function)
    (tmp_path / "mine.py").unlink()
    *_, whole = prefixes(Turn([IterationCounts(1, good=3)]), 0)
    assert pickle.loads(pickled)(whole) == 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("    return 1 / prefix.calls", r"failed at i = 0: ZeroDivisionError"),
        ("    return 'many'", r"gave 'many' at i = 0: return a finite number"),
        ("    return float('inf')", r"gave inf"),
        ("    return float('nan')", r"gave nan"),
        (
            "    return 10 ** 5000",
            r"gave an integer beyond 2\^500 at i = 0: return a finite number",
        ),
    ],
)
def test_a_metric_that_fails_or_gives_no_number_says_so(tmp_path, traces, line, message):
    path = tmp_path / "mine.py"
    path.write_text(SOURCE.rpartition("    return")[0] + line + "\n")
    (best,) = load_own_metrics([f"{path}:best"])
    with pytest.raises(gg.UsageError, match=f"The metric best {message}"):
        best.function(prefixes(Turn([]), 0)[0])


def test_a_mean_over_few_conversations_gives_a_warning():
    @gg.metric(unit="results", words="Results where something was good")
    def if_good(prefix):
        return prefix.results if prefix.good else None

    records = [
        {
            "conversation_id": f"c{at}",
            "iteration": 1,
            "results": [{"id": "x", "gain": 3 * (at < 4)}],
        }
        for at in range(10)
    ]
    run = gg.evaluate(records, metrics=["mrr", if_good])
    (found,) = [warning for warning in run.warnings if warning.code == "mostly_undefined"]
    assert found.message.startswith("Means over less than half of the conversations: if_good of 4")
    assert found.remedy.startswith("Let if_good return a number where None stands for one")


@gg.metric(unit="points", words="Balance")
def balance(prefix: gg.Prefix) -> float:
    """One point for each good result, minus one for each iteration."""
    return prefix.good - prefix.i


def test_values_below_0_keep_their_interval_also_when_the_run_is_opened_again(tmp_path):
    of_balance = partial(mean_interval_text, "balance", -2.5, -0.5)
    assert of_balance() == "-2.500..-0.500"
    gg.evaluate(RECORDS, metrics=[balance]).save(tmp_path / "out")
    assert gg.load(tmp_path / "out")["balance"].mean == 0.0
    assert of_balance() == "-2.500..-0.500"


def test_a_fraction_is_no_value_of_a_metric_declared_whole(tmp_path):
    """Its column of whole numbers would hold 1 where the mean is over 1.5."""

    def declare(value):
        @gg.metric(unit="results", words="Good halves", whole=True)
        def good_halves(prefix):
            return value(prefix.good)

        return good_halves

    refused = "good_halves gave 1.5 at i = 2: return a whole number"
    with pytest.raises(gg.UsageError, match=refused):
        gg.evaluate(RECORDS, metrics=[declare(lambda good: good / 2)])
    run = gg.evaluate(RECORDS, metrics=[declare(float)])
    assert [row["good_halves"] for row in run.conversations] == [3, 0]


@pytest.mark.parametrize("unit", ["share", "0 or 1"])
def test_a_share_beyond_1_is_refused(unit):
    @gg.metric(unit=unit, words="Good results")
    def good_share(prefix):
        return prefix.good

    refused = f"good_share gave 3 at i = 2: return a number from 0 to 1, as its unit is '{unit}'"
    with pytest.raises(gg.UsageError, match=refused):
        gg.evaluate(RECORDS, metrics=[good_share])


@pytest.mark.parametrize("native", ["1", "0"])
def test_a_metric_that_fails_names_the_conversation(monkeypatch, native):
    @gg.metric(unit="results", words="Results for each unit of gain")
    def results_per_gain(prefix):
        return prefix.results / prefix.gain if prefix.i else 0

    monkeypatch.setenv("GOODGAIN_NATIVE", native)
    failed = "In conversation b: The metric results_per_gain failed at i = 1: ZeroDivisionError"
    with pytest.raises(gg.UsageError, match=failed):
        gg.evaluate(RECORDS, metrics=[results_per_gain])


@pytest.mark.parametrize("native", ["1", "0"])
def test_a_metric_that_fails_in_the_best_case_names_the_conversation(monkeypatch, native):
    @gg.metric(unit="gain", words="Gain of 0 or 4")
    def small_gain(prefix):
        return {0: 0, 4: 4}[prefix.gain]

    results = [{"id": "x", "gain": 4}, {"id": "y"}]
    record = {"conversation_id": "a", "iteration": 1, "results": results}
    monkeypatch.setenv("GOODGAIN_NATIVE", native)
    with pytest.warns(gg.GoodGainWarning, match="few_labels"):
        assert gg.evaluate([record], metrics=[small_gain])["small_gain"].mean == 4
    failed = "In conversation a: The metric small_gain failed at i = 1: KeyError: 8"
    with pytest.raises(gg.UsageError, match=failed):
        gg.evaluate([record], metrics=[small_gain], bounds=True)


def test_a_run_gives_the_mean_of_a_metric_by_its_name():
    run = gg.evaluate(RECORDS, metrics=["ndcg@10", most])
    of_gain = run["CG"]
    assert (of_gain.mean, of_gain.n, of_gain.low) == (4.0, 2, of_gain.ci_low)
    assert run["most"].mean == 1.0
    with pytest.raises(KeyError, match="no mean of 'ndcg'"):
        run["ndcg"]
    with pytest.raises(KeyError, match="means has no metric 'ndcg'"):
        run.means.where(metric="ndcg")


def test_a_name_that_is_taken_or_missing_is_refused(tmp_path, traces):
    with pytest.raises(gg.UsageError, match="CG is another metric"):

        @gg.metric(unit="gain", words="Gain")
        def CG(prefix):
            return 0

    with pytest.raises(gg.UsageError, match="declares no metric worst"):
        load_own_metrics([f"{tmp_path / 'mine.py'}:worst"])
    with pytest.raises(gg.UsageError, match="cannot be read"):
        load_own_metrics([f"{tmp_path / 'other.py'}:best"])
    with pytest.raises(gg.UsageError, match="is no metric"):
        gg.evaluate(RECORDS, metrics=[len])


def test_an_installed_package_offers_metrics_by_entry_points(monkeypatch):
    offered = [SimpleNamespace(name="most", value=f"{__name__}:most")]
    monkeypatch.setattr(
        "goodgain.transforms.core.metrics.own_names.entry_points",
        lambda group: offered if group == "goodgain.metrics" else [],
    )
    assert check_names(["most", "NDCG@10"]) == (f"{__name__}:most", "ndcg@10")
    assert gg.evaluate(RECORDS, metrics=["most"]).conversations[0]["most"] == 2


def test_the_example_of_the_page_computes_what_it_says():
    page = (Path(__file__).parents[4] / "docs" / "python.md").read_text(encoding="utf-8")
    (example,) = re.findall(
        r"```python\n(import goodgain as gg\n\n\n@gg.*?)\n\n\nrun = ", page, re.DOTALL
    )
    names = {"__name__": "page"}
    exec(example, names)
    records = [
        {"conversation_id": "a", "iteration": 1, "results": [{"id": "x"}, {"id": "y", "gain": 1}]},
        {"conversation_id": "a", "iteration": 2, "results": [{"id": "x"}, {"id": "z", "gain": 4}]},
        {"conversation_id": "b", "iteration": 1, "results": [{"id": "x", "gain": 0}]},
    ]
    run = gg.evaluate(records, metrics=[names["wasted"]])
    assert [row["wasted"] for row in run.conversations] == [2, None]
