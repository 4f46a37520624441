"""A notebook, executed by a kernel and exported, as its author and its readers see it."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

ROOT = Path(__file__).parents[3]
CELLS = {
    "evaluated": "import goodgain as gg\n"
    'run = gg.evaluate("configs/data/sample.avro", metrics=["ndcg@10"])',
    "run": "run",
    "means": "run.means",
    "conversation": 'worst = max(run.conversations, key=lambda row: row["SRR"] or 0)\n'
    'run.explain(worst["conversation_id"])',
    "printed": 'print(run.explain(worst["conversation_id"]))',
    "comparison": 'gg.compare(run, by="arm", base="A")',
    "gate": 'gg.gate(run, ["SRE >= 10 %", "CG >= 100"])',
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def notebook():
    made = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, CELLS.values())))
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    return NotebookClient(made, timeout=120, resources={"metadata": {"path": ROOT}}).execute()


@pytest.fixture(scope="module")
def outputs(notebook):
    return dict(zip(CELLS, (cell.outputs for cell in notebook.cells), strict=True))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run", "Run of 60 conversations, 57 in the means"),
        ("means", "CG"),
        ("conversation", "Iteration i = 1"),
        ("comparison", "Gain (CG)"),
        ("gate", "The gate failed: 1 of 2 rules."),
    ],
)
def test_a_result_has_one_output_as_text_and_as_html(outputs, name, text):
    (output,) = outputs[name]
    data = output["data"]
    assert text in data["text/plain"]
    assert text in data["text/html"]
    assert "<table>" in data["text/html"]


def test_a_printed_explanation_is_one_text(outputs):
    (output,) = outputs["printed"]
    assert output["output_type"] == "stream"
    assert output["text"].startswith("Conversation ")


def test_the_exported_page_aligns_columns(notebook):
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert page.count("font-family: monospace; white-space: pre-wrap") == 5
