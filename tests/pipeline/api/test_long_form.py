"""Traces in long form, a row for each result: lists of dicts and tables have equal outcomes."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import goodgain as gg

DATASETS = ("conversations", "iterations", "means", "duplicates", "rejected")
LIKE_LISTS = {
    "list": list,
    "generator": iter,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.Table.from_pylist,
}
LONG_FAULTS = {
    "rejected": [
        {"conversation_id": "c", "iteration": 0, "id": "a", "gain": 3},
        {"conversation_id": "c", "iteration": 1, "id": "a", "gain": 9},
        {"conversation_id": "c", "iteration": 2, "id": "a", "gain": 3},
    ],
    "no labels": [{"conversation_id": "c", "iteration": 1, "id": "a"}] * 2,
    "unknown names": [
        {"session_id": "c", "iteration": at, "document_id": f"d{at}", "relevance": 3}
        for at in (1, 2)
    ],
    "no results": [{"conversation_id": "c", "iteration": at} for at in (1, 2)],
    "results under another name": [
        {"conversation_id": "c", "iteration": at, "hits": [{"id": f"d{at}", "gain": 3}]}
        for at in (1, 2)
    ],
    "ranks as text": [
        {"conversation_id": "c", "iteration": 1, "rank": f"{at}", "id": f"{at}", "gain": at % 4}
        for at in (10, 9, 1)
    ],
}


@pytest.mark.parametrize("fault", LONG_FAULTS)
def test_lists_and_tables_in_long_form_have_equal_rejections_and_warnings(fault):
    found = {
        name: gg.evaluate(make(LONG_FAULTS[fault]), max_rejected="100%")
        for name, make in LIKE_LISTS.items()
    }
    expected = found.pop("pandas")
    for name, run in found.items():
        assert run.manifest.warnings == expected.manifest.warnings, name
        for dataset in DATASETS:
            stored = getattr(run, dataset).stored()
            assert stored == getattr(expected, dataset).stored(), (name, dataset)


def test_faults_of_rows_in_long_form_are_named():
    codes = {
        fault: [warning.code for warning in gg.evaluate(rows, max_rejected="100%").warnings]
        for fault, rows in LONG_FAULTS.items()
    }
    assert codes["no labels"][0] == "no_labels"
    assert codes["no results"] == ["no_results"]
    assert codes["results under another name"] == ["no_results", "unknown_fields"]
    run = gg.evaluate(LONG_FAULTS["rejected"])
    assert [row["field"] for row in run.rejected] == ["iteration", "results[0].gain"]
    assert [row["N"] for row in run.conversations] == [1]
    with pytest.raises(gg.GoodGainError) as refused:
        gg.evaluate(LONG_FAULTS["unknown names"])
    assert "session_id (conversation_id?)" in str(refused.value)
    assert "results[].relevance (gain?)" in str(refused.value)
    ranked = gg.evaluate(LONG_FAULTS["ranks as text"], metrics=["mrr"])
    assert ranked.conversations[0]["mrr"] == 1 / 3  # 1, 9, 10


@pytest.mark.parametrize("make", LIKE_LISTS.values(), ids=LIKE_LISTS)
@pytest.mark.parametrize("rank", ["first", "nan"])
def test_a_rank_that_is_no_number_rejects_its_search_call(make, rank):
    row = {"conversation_id": "c", "iteration": 1, "id": "a", "rank": "1"}
    run = gg.evaluate(make([row, {**row, "rank": rank}, {**row, "iteration": 2}]))
    (rejected,) = run.rejected
    assert (rejected["field"], rejected["conversation_id"]) == ("rank", "c")
    assert rejected["reason"] == f"rank must be a number, got '{rank}'."
    assert [conversation["N"] for conversation in run.conversations] == [1]


def test_searches_of_one_iteration_differ_by_their_queries():
    """A row without a query belongs to the search of the row before it."""
    queries = ["red kites", None, "black kites", "red kites"]
    rows = [
        {"conversation_id": "c", "iteration": 1, "query": query, "id": f"d{at}", "gain": 2}
        for at, query in enumerate(queries)
    ]
    run = gg.evaluate(rows, per_call=True)
    assert sorted(row["results"] for row in run.calls) == [1, 3]
    assert run.conversations[0]["N"] == 1


@pytest.mark.parametrize(
    ("fields", "rejected"),
    [
        ({"conversation_id": ["c"]}, "conversation_id"),
        ({"attributes": "de"}, "attributes"),
        ({"ids": 7}, "results[0].ids"),
    ],
)
def test_wrong_values_in_long_form_reject_their_search_call(fields, rejected):
    row = {"conversation_id": "c", "iteration": 1, "id": "a", "gain": 3}
    run = gg.evaluate([{**row, **fields}, {**row, "iteration": 2}])
    assert [row["field"] for row in run.rejected] == [rejected]
    assert run.conversations[0]["CG"] == 3


def test_nan_is_a_missing_value_in_any_column():
    """As in `frame.to_dict("records")`."""
    nan = float("nan")
    rows = [
        {"conversation_id": "c", "iteration": 1, "turn": float("nan"), "rank": rank, "gain": gain}
        for rank, gain in ((nan, 2), (2, nan), (1, 3))
    ]
    rows = [{**row, "url": f"https://a.example/{at}"} for at, row in enumerate(rows)]
    run = gg.evaluate(rows, metrics=["mrr"])
    assert not len(run.rejected)
    (row,) = run.conversations
    assert (row["CG"], row["mrr"], run.iterations[0]["R_i"]) == (5, 1, 3)


def test_search_calls_and_rows_of_results_are_not_mixed():
    row = {"conversation_id": "c", "iteration": 1, "id": "a", "gain": 3}
    call = gg.SearchCall(conversation_id="c", iteration=2)
    with pytest.raises(gg.UsageError, match="record 151 of the traces is a SearchCall"):
        gg.evaluate([*[row] * 150, call])


@pytest.mark.parametrize("make", LIKE_LISTS.values(), ids=list(LIKE_LISTS))
def test_the_only_row_of_a_call_with_a_rank_alone_is_a_call_without_results(make):
    call = {"conversation_id": "c", "iteration": 1}
    run = gg.evaluate(make([{**call, "rank": 1}]))
    assert [row["R"] for row in run.conversations] == [0]
    assert {warning.code for warning in run.warnings} == {"no_results"}


@pytest.mark.parametrize("make", LIKE_LISTS.values(), ids=list(LIKE_LISTS))
def test_a_rank_alone_is_a_result_of_which_nothing_is_known(make):
    call = {"conversation_id": "c", "iteration": 1}
    run = gg.evaluate(make([{**call, "rank": 1}, {**call, "rank": 2}]))
    assert [row["R"] for row in run.conversations] == [2]
    assert {"no_labels", "no_identity"} <= {warning.code for warning in run.warnings}
