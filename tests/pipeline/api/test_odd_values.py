"""Values in Python rows that no file can hold: pandas' NA, arrays, lone surrogates."""

import numpy as np
import pandas as pd
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
