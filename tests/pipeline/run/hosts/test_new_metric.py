"""A new metric takes one declaration with one function; all outputs then have it."""

import json
import subprocess
import sys

import pytest

FUNCTIONS = """
def first_good(prefix):
    iterations = enumerate(prefix.iterations, start=1)
    return next((i for i, iteration in iterations if iteration.good), None)


def misses(prefix):
    return prefix.i - sum(iteration.good > 0 for iteration in prefix.iterations)


"""
ENTRIES = (
    """
    _declare(
        "first_good", "iterations", "First good result",
        "Iterations until the first good document.", "lower", "the smallest i with GR_i > 0",
        first_good, undefined="no good document was found", whole=True, needs_labels=True,
    ),
    _declare(
        "misses", "iterations", "Misses", "Iterations without a good document.", "lower",
        "the number of k in 1..N with GR_k = 0", misses,
        ("Iterations so far without a good document.", "the number of k in 1..i with GR_k = 0"),
        whole=True, needs_labels=True,
    ),
""",
)
HEADS = ("CONVERSATION_METRICS: tuple[Metric, ...] = (",)
# Runs in a new process, so that the registry is edited before the project imports it.
PROGRAM = """
import json, operator, sys
from importlib.util import find_spec, module_from_spec
from pathlib import Path

name = "goodgain.transforms.core.metrics.gains"
spec = find_spec(name)
functions, *edits, folder = sys.argv[1:]
source = Path(spec.origin).read_text()
for head, entry in zip(edits[::2], edits[1::2]):
    place = f"\\n{head}"
    assert source.count(place) == 1
    source = source.replace(place, f"\\n{functions}{head}{entry}")
sys.modules[name] = module = module_from_spec(spec)
exec(compile(source, spec.origin, "exec"), vars(module))

import apache_beam as beam

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.datasets import conversations, iterations
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.results.avro_rows import avro_schema
from goodgain.transforms.beam_rows import ScoreConversationRows
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.plan import plan_of

traces = [
    {"conversation_id": "a", "iteration": 1, "results": [{"id": "x", "gain": 1}]},
    {"conversation_id": "a", "iteration": 2, "results": [{"id": "y", "gain": 3}]},
    {"conversation_id": "b", "iteration": 1, "results": [{"id": "z", "gain": 4}]},
    {"conversation_id": "c", "iteration": 1, "results": [{"id": "u", "gain": 0}]},
]
Path(folder, "t.jsonl").write_text("".join(json.dumps(record) + "\\n" for record in traces))
run = gg.evaluate(traces)
out = f"{folder}/out"
assert main(["run", "--input", f"{folder}/t.jsonl", "--output", out, "--quiet"]) == 0
compared = f"{folder}/compared"
assert main(["compare", out, out, "--metrics", "first_good,misses_at_i", "--output", compared]) == 0
print("@")
main(["metrics", "first_good", "--json"])
print("@")
with beam.Pipeline("FnApiRunner") as pipeline:
    _ = (
        pipeline
        | beam.Create([beam.Row(**{name: [beam.Row(**result) for result in value]
                                   if name == "results" else value
                                   for name, value in trace.items()}) for trace in traces])
        | ScoreConversationRows(metrics=[])
        | beam.Map(lambda row: [row.first_good, [at_i.misses_at_i for at_i in row.iterations]])
        | beam.combiners.ToList()
        | beam.Map(lambda rows: Path(folder, "beam").write_text(json.dumps(rows)))
    )
by_place = operator.itemgetter("conversation_id", "i")
written = sorted(read_dataset(out, "iterations"), key=by_place)
at_2 = {row["population"]: row for row in run.means.where(metric="misses_at_i", i=2)}
report = Path(out, "report.html").read_text()
print(json.dumps({
    "columns": [[row["first_good"] for row in run.conversations],
                [row["misses_at_i"] for row in run.iterations]],
    "written": [sorted([row["conversation_id"], row["first_good"]]
                       for row in read_dataset(out, "conversations")),
                [row["misses_at_i"] for row in written]],
    "means": [[row["n"], row["undefined"], row["mean"]] for row in
              (run.means.where(metric="first_good", i=None, population="all")[0],
               at_2["reached"], at_2["all"])],
    "compared": [row["base_mean"] for row in read_dataset(compared, "comparison")
                 if row["metric"] == "misses_at_i" and row["i"] == 2],
    "direction": [metric_by_name(name).direction for name in ("first_good", "misses_at_i")],
    "schema": [field for dataset in (conversations(plan_of((), 10)), iterations(plan_of((), 10)))
               for field in avro_schema(dataset)["fields"]
               if field["name"] in ("first_good", "misses_at_i")],
    "in report": ["First good result" in report, "Misses so far" in report],
    "in Beam's rows": sorted(json.loads(Path(folder, "beam").read_text()), key=str),
}))
"""


@pytest.mark.slow
def test_all_outputs_have_the_new_metric(tmp_path):
    edits = [text for pair in zip(HEADS, ENTRIES, strict=True) for text in pair]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, FUNCTIONS, *edits, str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    compared, listed, rest = done.stdout.split("\n@\n")
    assert "First good result" in compared
    (entry,) = json.loads(listed)
    assert (entry["label"], entry["direction"]) == ("First good result", "lower")
    found = json.loads(rest)
    of_conversation, of_iteration = found.pop("schema")
    assert [of_conversation["type"], of_iteration["type"]] == [["null", "long"], "long"]
    assert "the smallest i with GR_i > 0" in of_conversation["doc"]
    assert found == {
        "columns": [[2, 1, None], [1, 1, 0, 1]],
        "written": [[["a", 2], ["b", 1], ["c", None]], [1, 1, 0, 1]],
        "means": [[2, 1, 1.5], [1, 0, 1], [3, 0, 4 / 3]],
        "compared": [1, 4 / 3],
        "direction": ["lower", "lower"],
        "in report": [True, True],
        "in Beam's rows": [[1, [0]], [2, [1, 1]], [None, [1]]],
    }
