"""A run without openings, outcomes, repeats, aspects, costs or a pool has nothing of them."""

import pytest

from goodgain.pipeline.results.finished_run import read_columns
from tests.pipeline.runs import manifest, rows, run, write_jsonl

PLAIN = {
    "conversation_id": "c",
    "iteration": 1,
    "attributes": {"query": "q"},
    "results": [{"url": "https://a.org", "gain": 3}],
}
# What the outputs are documented to have without any of it.
CONVERSATIONS = [
    "conversation_id", "turn", "attributes", "N", "calls", "R", "UR", "GR", "DupR", "CG", "RG",
    "DCG", "DRG", "RAG", "DRAG", "SRE", "SRR", "iterations_for_all_good_results",
    "iterations_after_last_good", "unlabelled", "label_conflicts", "rejected_records",
    "redelivered", "first_timestamp", "last_timestamp", "ndcg@10", "calls_empty", "calls_failed",
    "queries_repeated",
]  # fmt: skip
ITERATIONS = [
    "conversation_id", "turn", "attributes", "i", "iteration", "calls", "R_i", "UR_i", "GR_i",
    "Dup_i", "G_i", "unlabelled_i", "AvgGain_i", "R_at_i", "UR_at_i", "GR_at_i", "DupR_at_i",
    "CG_at_i", "RG_at_i", "DCG_at_i", "DRG_at_i", "RAG_at_i", "DRAG_at_i", "SRE_at_i", "SRR_at_i",
]  # fmt: skip
DATASETS = {"conversations", "iterations", "means", "duplicates", "rejected", "late"}
NOT_METRICS = {
    "conversation_id", "turn", "attributes", "i", "iteration", "rejected_records",
    "first_timestamp", "last_timestamp",
}  # fmt: skip


def score(folder, record, *options):
    traces = write_jsonl(folder / "traces.jsonl", [record])
    assert run(folder / "out", [traces], "--metrics=ndcg@10", "--max-i=1", *options) == 0
    return folder / "out"


def columns(output, dataset):
    return [name.replace("__", ".") for name in read_columns(str(output), dataset)]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return score(tmp_path_factory.mktemp("plain"), PLAIN)


def test_no_column_more(plain):
    assert columns(plain, "conversations") == CONVERSATIONS
    assert columns(plain, "iterations") == ITERATIONS
    names = {row["metric"] for row in rows(plain, "means")}
    assert names <= {*CONVERSATIONS, *ITERATIONS} - NOT_METRICS


def test_no_dataset_and_no_entry_of_the_manifest_more(plain):
    found = manifest(plain)
    assert found["datasets"].keys() == DATASETS
    assert {path.name for path in plain.iterdir() if path.is_dir()} <= DATASETS
    assert found.keys().isdisjoint({"outcomes", "outcome_rows", "aspect_qrels", "pool"})


def test_no_section_of_the_report_more(plain):
    report = (plain / "report.html").read_text(encoding="utf-8")
    for section in ("outcomes", "repeats", "way", "costs", "pool"):
        assert f'id="{section}"' not in report
    assert 'id="iterations"' in report


OPENED = {**PLAIN, "action": "open"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "has_columns"), [([], True), (["--usage"], True), (["--no-usage"], False)]
)
def test_what_was_opened_can_be_left_out(tmp_path, option, has_columns):
    traces = write_jsonl(tmp_path / "traces.jsonl", [PLAIN, OPENED])
    assert run(tmp_path / "out", [traces], "--max-i=1", *option) == 0
    assert ("open_recall" in columns(tmp_path / "out", "conversations")) is has_columns
    assert manifest(tmp_path / "out")["records"]["scored"] == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("record", "options", "more"),
    [
        ({}, ["--usage"], "open_recall"),
        ({"outcomes": {"correct": 1}}, [], "outcome.correct"),
        ({"costs": {"tokens": 5}}, [], "cost.tokens"),
        ({"results": [{"url": "https://a.org", "gain": 3, "aspects": ["x"]}]}, [], "aspects"),
    ],
)
def test_each_brings_its_own(tmp_path, record, options, more):
    found = columns(score(tmp_path, {**PLAIN, **record}, *options), "conversations")
    assert more in found
    assert [name for name in found if name in CONVERSATIONS] == CONVERSATIONS
