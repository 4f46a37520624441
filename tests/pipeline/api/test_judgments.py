"""`goodgain.evaluate` with judgments gives the rows of `goodgain run` with them."""

from random import Random

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import goodgain as gg
from tests.adversarial import trace
from tests.pipeline.api.test_evaluate import OPTIONS, assert_same
from tests.pipeline.runs import FULL, as_written, manifest, run, write_jsonl

QRELS = """
q1 0 a 3
q1 0 a 3
q1 0 b 0
q1 0 d -1
q1 0 never 4
q2 0 a 1
q9 0 a 1
"""


def calls():
    """Conversations of judged, unjudged and unnamed queries; the labels in them are wrong."""
    return [
        {
            "conversation_id": f"c-{query}-{repeat}",
            "iteration": iteration,
            "attributes": {"query_id": query, "arm": "A"} if query else {},
            "results": [
                {"ids": {"doc_id": name} if name else {}, "id": "b", "gain": 4} for name in names
            ],
        }
        for query in ("q1", "q2", "q3", "")
        for repeat in range(3)
        for iteration, names in ((1, ["x", "a", "b"]), (2, ["d", "a", "", "b"]))
    ]


def qrels(folder, text=QRELS):
    path = folder / "qrels.txt"
    path.write_text(text.lstrip())
    return str(path)


ROWS = [
    {"topic": topic, "document_id": document, "gain": int(gain)}
    for topic, _, document, gain in map(str.split, QRELS.strip().splitlines())
]
BY_TOPIC = {
    topic: {row["document_id"]: row["gain"] for row in ROWS if row["topic"] == topic}
    for topic in ("q1", "q2", "q9")
}


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(BY_TOPIC, id="dict"),
        pytest.param(ROWS, id="rows"),
        pytest.param(pd.DataFrame(ROWS), id="pandas"),
        pytest.param(pl.DataFrame(ROWS), id="polars"),
        pytest.param(pa.Table.from_pylist(ROWS), id="arrow"),
    ],
)
def test_judgments_may_be_a_dict_rows_or_a_table(given, tmp_path):
    options = {"qrels_topic": "query_id", "metrics": ["ndcg@10"]}
    of_file = gg.evaluate(calls(), qrels=qrels(tmp_path), **options)
    found = gg.evaluate(calls(), qrels=given, **options)
    assert found.conversations.to_dicts() == of_file.conversations.to_dicts()
    assert {row["CG"] for row in found.conversations} == {0, 3}


@pytest.mark.slow
@pytest.mark.parametrize("topic", ["query_id", None])
def test_rows_counts_and_warnings_equal_those_of_a_run(topic, tmp_path):
    judged = qrels(tmp_path, QRELS if topic else QRELS.replace("q1 ", "c-q1-0 "))
    path = write_jsonl(tmp_path / "traces.jsonl", calls())
    words = ["--qrels", judged, *(["--qrels-topic", topic] if topic else [])]
    assert run(tmp_path / "out", [path], *FULL, *words) in (0, 3)
    for traces in (path, calls()):
        found = gg.evaluate(traces, qrels=judged, qrels_topic=topic, **OPTIONS)
        assert_same(found, tmp_path / "out")
        expected = manifest(tmp_path / "out")
        assert as_written(found.manifest)["qrels"] == expected["qrels"]
    assert expected["qrels"]["never_retrieved"] > 0
    loaded = gg.load(tmp_path / "out")
    one = "c-q1-0"
    assert loaded.explain(one) == gg.evaluate(path, qrels=judged, qrels_topic=topic).explain(one)


@pytest.mark.slow
def test_adversarial_names_and_redeliveries_give_the_rows_of_a_run(tmp_path):
    rng = Random(5)
    records = trace(rng, conversations=40)
    names = sorted(
        {
            (record["conversation_id"], str(result["id"]).strip())
            for record in records
            if isinstance(record.get("conversation_id"), str)
            for result in record.get("results") or []
            if isinstance(result, dict) and result.get("id")
        }
    )
    lines = [
        {"topic": topic, "doc_id": name, "gain": rng.choice((-1, 0, 1, 2, 3, 4))}
        for topic, name in names
        if rng.random() < 0.7 and topic.strip() and name
    ]
    assert lines
    judged = write_jsonl(tmp_path / "qrels.jsonl", lines)
    path = write_jsonl(tmp_path / "traces.jsonl", records)
    assert run(tmp_path / "out", [path], *FULL, "--qrels", judged) in (0, 3)
    found = gg.evaluate(path, qrels=judged, **OPTIONS)
    assert_same(found, tmp_path / "out")
    assert as_written(found.manifest)["qrels"] == manifest(tmp_path / "out")["qrels"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 0 a 3\nq1 0 b 1\nq1 0 a 2\n", r"qrels.txt:3: Document a of topic q1 has the label 2"),
        ("q1 0 a 7\n", r"qrels.txt:1: The label is 7"),
        (None, "No file matches"),
    ],
)
def test_reports_unusable_judgments(text, message, tmp_path):
    judged = str(tmp_path / "none") if text is None else qrels(tmp_path, text)
    with pytest.raises(gg.UsageError, match=message):
        gg.evaluate(calls(), qrels=judged)


def test_labels_on_another_scale_get_the_argument_that_reads_them():
    call = {"conversation_id": "c", "iteration": 1, "results": [{"id": "d"}]}
    with pytest.raises(
        gg.UsageError, match=r'must be a whole number; .* label_map={"0.5..1": "2"}'
    ):
        gg.evaluate([call], qrels={"c": {"d": 0.5}})
