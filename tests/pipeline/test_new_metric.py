"""A metric is declared once and wholly: one entry and one function are all that a new one takes."""

import json
import subprocess
import sys

FUNCTION = """
def first_good(iterations):
    return next((i for i, one in enumerate(iterations, start=1) if one.good), None)


"""
ENTRY = """
    Metric(
        "first_good", "iterations", "Iterations until the first good document.", "lower",
        "no good document was found", "the smallest i with GR_i > 0", True, needs_labels=True,
        function=first_good, words="First good result",
    ),
"""
HEAD = "CONVERSATION_METRICS: tuple[Metric, ...] = ("
# Runs in a process of its own: the registry is edited before anything of the project reads it.
PROGRAM = """
import json, sys
from importlib.util import find_spec, module_from_spec
from pathlib import Path

name = "goodgain.transforms.core.scoring.registry"
spec = find_spec(name)
function, head, entry, folder = sys.argv[1:]
source = Path(spec.origin).read_text()
assert head in source
sys.modules[name] = module = module_from_spec(spec)
exec(compile(source.replace(head, function + head + entry), spec.origin, "exec"), vars(module))

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.comparison.measures import direction
from goodgain.pipeline.outputs.datasets import conversations
from goodgain.pipeline.outputs.folder import read_dataset
from goodgain.pipeline.outputs.formats import avro_schema

traces = [
    {"conversation_id": "a", "iteration": 1, "results": [{"id": "x", "gain": 1}]},
    {"conversation_id": "a", "iteration": 2, "results": [{"id": "y", "gain": 3}]},
    {"conversation_id": "b", "iteration": 1, "results": [{"id": "z", "gain": 4}]},
    {"conversation_id": "c", "iteration": 1, "results": [{"id": "u", "gain": 0}]},
]
Path(folder, "t.jsonl").write_text("".join(json.dumps(one) + "\\n" for one in traces))
run = gg.evaluate(traces)
out = f"{folder}/out"
assert main(["run", "--input", f"{folder}/t.jsonl", "--output", out, "--quiet"]) == 0
assert main(["compare", out, out, "--metrics", "first_good", "--json"]) == 0
print("----")
main(["metrics", "first_good", "--json"])
print("----")
mean = run.means.where(metric="first_good", i=None, population="all")[0]
print(json.dumps({
    "column": [row["first_good"] for row in run.conversations],
    "written": sorted([row["conversation_id"], row["first_good"]]
                      for row in read_dataset(out, "conversations")),
    "mean": [mean["n"], mean["undefined"], mean["mean"]],
    "direction": direction("first_good"),
    "schema": [one for one in avro_schema(conversations(()))["fields"]
               if one["name"] == "first_good"],
    "in report": "First good result" in Path(out, "report.html").read_text(),
}))
"""


def test_columns_means_lists_schemas_comparisons_and_the_report_have_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, FUNCTION, HEAD, ENTRY, str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    compared, listed, rest = done.stdout.split("----\n")
    assert '"first_good"' in compared
    (entry,) = json.loads(listed)
    assert (entry["label"], entry["direction"]) == ("First good result", "lower")
    found = json.loads(rest)
    (field,) = found.pop("schema")
    assert field["type"] == ["null", "long"]
    assert "the smallest i with GR_i > 0" in field["doc"]
    assert found == {
        "column": [2, 1, None],
        "written": [["a", 2], ["b", 1], ["c", None]],
        "mean": [2, 1, 1.5],
        "direction": "lower",
        "in report": True,
    }
