"""Values in Python rows that no file can hold: pandas' NA, arrays, subclasses, lone surrogates."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import goodgain as gg

RESULTS = [{"ids": {"doc_id": "a"}, "gain": 1}, {"ids": {"doc_id": "b"}}]
TRACES = [
    {"conversation_id": "c", "iteration": 1, "results": RESULTS},
    {"conversation_id": "d", "iteration": 1, "results": RESULTS},
]
LABEL = {"conversation_id": "c", "iteration": 1, "rank": 2, "gain": 2}
OUTCOME = {"conversation_id": "c", "correct": 1}
JUDGMENT = {"topic": "c", "document_id": "a", "gain": 2}


def reasons(table):
    return [(row["position"], row["reason"]) for row in table.to_dicts()]


@pytest.mark.parametrize("missing", [pd.NA, pd.NaT, None, float("nan"), np.float32("nan"), " "])
def test_missing_values_say_nothing(missing):
    evaluated = gg.evaluate(TRACES, labels=[LABEL, {**LABEL, "gain": missing}])
    labels = evaluated.manifest.labels
    assert (labels.joined, labels.empty, labels.rejected) == (1, 1, 0)
    rows = [OUTCOME, {"conversation_id": "d", "correct": missing}]
    assert not gg.evaluate(TRACES, outcomes=rows).rejected_outcomes.to_dicts()
    rows = [JUDGMENT, {**JUDGMENT, "document_id": "b", "gain": missing}]
    assert gg.evaluate(TRACES, qrels=rows).manifest.qrels.unjudged == 1


def test_missing_values_of_records_take_their_defaults():
    result = {"ids": {"doc_id": "a"}, "gain": pd.NA, "title": pd.NA}
    found = gg.evaluate([{**TRACES[0], "call": pd.NA, "results": [result]}, TRACES[1]])
    assert found.manifest.results.unlabelled == 2
    assert not found.rejected.to_dicts()
    found = gg.evaluate([{**TRACES[0], "iteration": pd.NA}, TRACES[1]])
    assert reasons(found.rejected) == [("record 1", "iteration is missing.")]


def test_arrays_are_rejected():
    array = np.array([1, 2])
    found = gg.evaluate(TRACES, labels=[LABEL, {**LABEL, "rank": 1, "gain": array}])
    ((position, reason),) = reasons(found.rejected_labels)
    assert position == "row 2"
    assert reason.startswith("gain must be a whole number from 0 to 4, got")
    found = gg.evaluate(TRACES, outcomes=[OUTCOME, {**OUTCOME, "embedding": array}])
    ((position, reason),) = reasons(found.rejected_outcomes)
    assert position == "row 2"
    assert reason.startswith("embedding must be a number")
    with pytest.raises(gg.UsageError, match="qrels, row 2: The label is array"):
        gg.evaluate(TRACES, qrels=[JUDGMENT, {**JUDGMENT, "document_id": "b", "gain": array}])


@pytest.mark.parametrize(
    ("field", "value"),
    [("iteration", np.array([0, 0])), ("results", [{"ids": {"doc_id": np.array(["a", "b"])}}])],
)
def test_records_with_arrays_are_rejected(field, value):
    found = gg.evaluate([{**TRACES[0], field: value}, TRACES[1]])
    ((position, reason),) = reasons(found.rejected)
    assert position == "record 1"
    assert reason.startswith(field)


class Text(str):
    """Like the text of a tag in an HTML parser."""


@pytest.mark.parametrize("native", ["1", "0"])
@pytest.mark.parametrize("text", [Text, np.str_])
def test_texts_of_subclasses_of_str_are_texts(monkeypatch, native, text):
    monkeypatch.setenv("GOODGAIN_NATIVE", native)

    def record(text):
        return {
            "conversation_id": text("c"),
            "iteration": 1,
            "query": text("red kites"),
            "attributes": {text("arm"): text("a")},
            "results": [
                {"id": text("5"), "ids": {text("doc_id"): [text("a"), text("b")]}, "gain": 2},
                {"title": text("A title"), "fields": {"author": text("b")}, "aspects": [text("x")]},
            ],
        }

    # A copy of it is the same record: their digests are equal.
    found = gg.evaluate([record(text), record(str)])
    assert not found.rejected.to_dicts()
    assert found.manifest.records.redelivered == 1
    assert found.conversations[0]["attributes"] == {"arm": "a"}
    lone = gg.evaluate([{**record(text), "query": text("\ud800")}, TRACES[1]])
    assert reasons(lone.rejected) == [("record 1", "query has bytes that are not UTF-8 text.")]


def test_numpy_numbers_and_booleans_are_those_of_python():
    result = {"id": "a", "gain": np.float32(2), "score": np.float32(0.5)}
    found = gg.evaluate(
        [
            {
                "conversation_id": "c",
                "iteration": np.float64(1),
                "is_final": np.bool_(True),
                "costs": {"tokens": np.float32(2.5), "calls": np.int64(3)},
                "outcomes": {"correct": np.bool_(True)},
                "attributes": {"hot": np.bool_(True), "size": np.float32(12)},
                "results": [result],
            }
        ]
    )
    assert not found.rejected.to_dicts()
    (row,) = found.conversations
    assert row["attributes"] == {"hot": "true", "size": "12"}
    values = [row[name] for name in ("CG", "cost.tokens", "cost.calls", "outcome.correct")]
    assert values == [2, 2.5, 3, 1]


@pytest.mark.parametrize("is_arrow", [False, True])
def test_a_table_with_a_column_twice_is_refused(is_arrow):
    names = ["conversation_id", "iteration", "id", "gain", "gain"]
    values = ["c", 1, "a", 3, 2]
    if is_arrow:
        table = pa.Table.from_arrays([[value] for value in values], names)
    else:
        table = pd.DataFrame([values], columns=names)
    with pytest.raises(gg.UsageError, match="The table has the column gain twice: drop or rename"):
        gg.evaluate(table)


@pytest.mark.parametrize(
    "label", [{**LABEL, "conversation_id": "\ud800"}, {"record_id": "\ud800", "rank": 1, "gain": 1}]
)
def test_labels_with_lone_surrogates_are_rejected(label):
    found = gg.evaluate(TRACES, labels=[LABEL, label])
    ((position, reason),) = reasons(found.rejected_labels)
    assert position == "row 2"
    assert reason.endswith('_id is "\\ud800", which is not UTF-8 text.')


@pytest.mark.parametrize("documents", [None, 5])
def test_exclusions_by_topic_are_lists(documents):
    with pytest.raises(gg.UsageError, match=r"exclude of the topic 'c' is no list of documents"):
        gg.evaluate(TRACES, exclude={"c": documents})
