"""`goodgain.evaluate` gives the numbers of `goodgain run` for files, records and tables."""

import io
import json
import re
import subprocess
import sys
from random import Random

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.transforms.core.records.parsing import parse_mapping
from tests.adversarial import trace
from tests.native.paths import count_folds, needs_native
from tests.pipeline.runs import (
    FULL,
    MAX_I,
    SAMPLE,
    SESSIONS,
    as_written,
    manifest,
    rows,
    run,
    write_jsonl,
)

OPTIONS = {
    "per_call": True,
    "bounds": True,
    "max_i": MAX_I,
    "slices": ["arm", ["arm", "market"]],
}
DATASETS = ("conversations", "iterations", "means", "duplicates", "calls", "rejected", "late")
CALLS = [
    {
        "conversation_id": "c-1",
        "iteration": 1,
        "attributes": {"arm": "A"},
        "results": [
            {"ids": {"file_id": "f-1"}, "entity_type": "File", "gain": 3},
            {"ids": {"file_id": "f-2"}, "entity_type": "File", "gain": 2},
        ],
    },
    {
        "conversation_id": "c-1",
        "iteration": 2,
        "results": [
            {"ids": {"file_id": "f-3"}, "entity_type": "File", "gain": 4},
            {"ids": {"file_id": "f-1"}, "entity_type": "File", "gain": 3},
            {"url": "https://a.example/b", "gain": None},
        ],
    },
    {"conversation_id": "c-2", "iteration": 1, "attributes": {"market": "de"}, "results": []},
]


def sort_found(found):
    return sorted(found, key=lambda row: json.dumps(row, sort_keys=True, default=str))


def assert_same(evaluated, output):
    """Assert that all rows of all datasets, and the counts, equal those of a run."""
    for name in DATASETS:
        table = getattr(evaluated, name)
        written = rows(output, name)
        found, expected = sort_found(table.stored()), sort_found(written)
        assert found == expected, name
        for column in ("attributes", "slice"):  # equal dicts may differ in the order of their keys
            orders = [[list(row.get(column, ())) for row in rows] for rows in (found, expected)]
            assert orders[0] == orders[1], name
        assert written or name in ("rejected", "late")
    here, there = as_written(evaluated.manifest), manifest(output)
    for group in ("records", "conversations", "results", "warnings"):
        assert here[group] == there[group]


@pytest.mark.slow
@pytest.mark.parametrize("traces", [SAMPLE, SESSIONS], ids=["sample", "sessions"])
def test_shipped_traces_give_the_rows_of_a_run(traces, tmp_path):
    assert run(tmp_path / "out", [traces], *FULL) in (0, 3)
    assert_same(gg.evaluate(traces, **OPTIONS), tmp_path / "out")


@pytest.mark.slow
def test_ties_redeliveries_and_bad_records_give_the_rows_of_a_run(tmp_path):
    records = trace(Random(31), conversations=40)
    path = write_jsonl(tmp_path / "traces.jsonl", records)
    assert run(tmp_path / "out", [path], *FULL) in (0, 3)
    assert_same(gg.evaluate(path, **OPTIONS), tmp_path / "out")
    in_memory = gg.evaluate(records, **OPTIONS)
    of_file = gg.evaluate([path], **OPTIONS)
    for name in ("conversations", "iterations", "means", "duplicates", "calls"):
        assert getattr(in_memory, name).stored() == getattr(of_file, name).stored()
    assert len(in_memory.rejected) == len(of_file.rejected)


def long_rows():
    return [
        {
            "conversation_id": call["conversation_id"],
            "iteration": call["iteration"],
            "attributes.arm": call.get("attributes", {}).get("arm"),
            "attributes.market": call.get("attributes", {}).get("market"),
            "rank": rank,
            "entity_type": result.get("entity_type"),
            "ids.file_id": result.get("ids", {}).get("file_id"),
            "url": result.get("url"),
            "gain": result.get("gain"),
        }
        for call in CALLS
        for rank, result in enumerate(call["results"] or [{}], start=1)
    ]


def drop_nulls(rows):
    return [{key: value for key, value in row.items() if value is not None} for row in rows]


def read_back(calls):
    """A data frame that pandas reads from Parquet, in which lists are arrays of NumPy."""
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(calls), file)
    return pd.read_parquet(file)


@pytest.mark.parametrize(
    "traces",
    [
        pytest.param(pd.DataFrame(CALLS), id="pandas, nested"),
        pytest.param(read_back(CALLS), id="pandas, nested, from Parquet"),
        pytest.param(pa.Table.from_pylist(CALLS), id="pyarrow, nested"),
        pytest.param(pl.DataFrame(pa.Table.from_pylist(CALLS)), id="polars, nested"),
        pytest.param(long_rows(), id="list, long"),
        pytest.param(drop_nulls(long_rows()), id="list, long, without nulls"),
        pytest.param(iter(long_rows()), id="generator, long"),
        pytest.param(pd.DataFrame(long_rows()), id="pandas, long"),
        pytest.param(pa.Table.from_pylist(long_rows()), id="pyarrow, long"),
        pytest.param(pl.DataFrame(long_rows()), id="polars, long"),
        pytest.param(pd.DataFrame(long_rows()[::-1]), id="pandas, long, ranks in reverse"),
        pytest.param(long_rows()[::-1], id="list, long, ranks in reverse"),
        pytest.param((dict(call) for call in CALLS), id="generator"),
        pytest.param(pl.LazyFrame(long_rows()), id="polars, lazy"),
        pytest.param(pa.RecordBatch.from_pylist(long_rows()), id="pyarrow, batch"),
    ],
)
def test_tables_give_the_rows_of_their_records(traces):
    expected = gg.evaluate(CALLS)
    found = gg.evaluate(traces)
    assert not len(found.rejected)
    for name in ("conversations", "iterations", "means", "duplicates"):
        assert getattr(found, name).stored() == getattr(expected, name).stored()
    assert expected.conversations[0]["CG"] == 9
    assert expected.conversations[0]["DupR"] == 1
    assert expected.conversations[1]["N"] == 1


def test_imports_neither_beam_nor_slow_packages():
    code = (
        "import sys, goodgain as gg; quick = set(sys.modules);"
        "gg.evaluate([{'conversation_id': 'c', 'iteration': 1}]).conversations.to_dicts();"
        "print('apache_beam' in sys.modules, bool({'pydantic', 'scipy', 'pyarrow'} & quick))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("form", ["mappings", "calls", "rows"])
def test_a_record_with_more_results_than_allowed_is_a_rejected_row(form):
    results = [{"id": "a", "gain": 1}, {"id": "b", "gain": 1}]
    call = {"conversation_id": "c", "iteration": 1}
    small = {**call, "conversation_id": "d"}
    if form == "rows":
        traces = [{**call, **result} for result in results] + [{**small, **results[0]}]
    else:
        traces = [{**call, "results": results}, {**small, "results": results[:1]}]
    if form == "calls":
        traces = [parse_mapping(record) for record in traces]

    with pytest.warns(gg.GoodGainWarning, match="rejected_records"):
        found = gg.evaluate(traces, max_record_results=1, max_rejected="100%")

    (row,) = found.rejected
    assert (row["position"], row["field"], row["conversation_id"]) == ("record 1", "results", "c")
    assert "--max-record-results" in row["reason"]
    assert [row["R"] for row in found.conversations if row["conversation_id"] == "d"] == [1]


def test_a_text_with_half_of_a_surrogate_pair_is_a_rejected_row():
    found = gg.evaluate([{**CALLS[0], "query": "\ud800"}, CALLS[1]], max_rejected="100%")
    (row,) = found.rejected
    assert (row["position"], row["field"]) == ("record 1", "query")
    assert found.manifest.records.scored == 1


@pytest.mark.parametrize("field", ["query", "title"])
def test_a_text_of_an_arrow_table_that_is_not_utf_8_is_a_rejected_row(field):
    texts = pa.array([b"good", b"\xff"]).view(pa.string())
    columns = {"conversation_id": ["c", "d"], "iteration": [1, 1], "rank": [1, 1]}
    with pytest.warns(gg.GoodGainWarning, match="rejected_records"):
        found = gg.evaluate(pa.table({**columns, field: texts}), max_rejected="100%")
    assert [row["conversation_id"] for row in found.rejected] == ["d"]


def test_an_invalid_record_is_a_rejected_row():
    found = gg.evaluate([*CALLS, {"conversation_id": "c-3", "iteration": 0}])
    (row,) = found.rejected
    assert (row["position"], row["field"], row["conversation_id"]) == (
        "record 4",
        "iteration",
        "c-3",
    )
    assert found.manifest.records.rejected == 1


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda: gg.evaluate(CALLS, metrics=["ndgc@10"]),
            "metrics cannot be used: Unknown ranking",
        ),
        (
            lambda: gg.evaluate(CALLS, slcies=["arm"]),
            r"slcies is not an option; did you mean slices\? The options are",
        ),
        (lambda: gg.evaluate(CALLS, output="x"), "output is not an option"),
        (lambda: gg.evaluate(CALLS, max_i=0, g_max=99), "g_max must be .*; max_i must be"),
        (lambda: gg.evaluate("no/such/*.avro"), "No file matches no/such"),
        (lambda: gg.evaluate(17), "traces must be paths of files, a list of records, or a table"),
        (
            lambda: gg.evaluate(pd.Series([1])),
            r"pandas.Series is not a table; give a DataFrame",
        ),
        (
            lambda: gg.evaluate(pl.Series([1])),
            r"polars.Series is not a table; give a DataFrame",
        ),
        (lambda: gg.evaluate(CALLS, labels=pd.Series([1])), r"pandas.Series is not a table"),
        (lambda: gg.evaluate([17]), "record 1 of the traces is not a dict but int"),
        (lambda: gg.evaluate(CALLS).calls, "made without per_call=True"),
        (lambda: gg.evaluate(CALLS).explain("c-9"), "There is no conversation c-9; the nearest"),
    ],
)
def test_reports_mistakes(call, expected):
    with pytest.raises(gg.UsageError, match=expected):
        call()


def test_reads_a_configuration_file(tmp_path):
    config = tmp_path / "run.yaml"
    config.write_text("good_gain_threshold: 4\nmetrics: [mrr]\nformat: jsonl\n")
    assert gg.evaluate(CALLS, config=str(config)).conversations[0]["CG"] == 4
    assert "mrr" in gg.evaluate(CALLS, config=config).conversations.columns
    assert gg.evaluate(CALLS, config=str(config), good_gain_threshold=3).conversations[0]["CG"] == 7


OTHER_NAMES = [
    {
        "conversation_id": "c-1",
        "iteration": number,
        "results": [{"document_id": "a", "relevance": 3}, {"document_id": "b", "relevance": 0}],
    }
    for number in (0, 1)
]
LONG_OTHER_NAMES = [
    {"conversation_id": "c-1", "iteration": number, "document_id": name, "relevance": gain}
    for number in (0, 1)
    for name, gain in (("a", 3), ("b", 0))
]


@pytest.mark.parametrize(
    "traces",
    [
        pytest.param(OTHER_NAMES, id="records"),
        pytest.param(pd.DataFrame(OTHER_NAMES), id="pandas, nested"),
        pytest.param(LONG_OTHER_NAMES, id="list, long"),
        pytest.param(pd.DataFrame(LONG_OTHER_NAMES), id="pandas, long"),
        pytest.param(pl.DataFrame(LONG_OTHER_NAMES), id="polars, long"),
        pytest.param(pa.Table.from_pylist(LONG_OTHER_NAMES), id="pyarrow, long"),
    ],
)
def test_warns_of_fields_with_other_names_and_maps_them(traces):
    (unknown,) = (
        warning
        for warning in gg.evaluate(traces, iteration_base=0).manifest.warnings
        if warning.code == "unknown_fields"
    )
    assert "add --map ids.document_id=document_id,gain=relevance" in unknown.remedy
    mapping = 'mapping={"ids.document_id": "document_id", "gain": "relevance"}'
    with pytest.warns(gg.GoodGainWarning, match=re.escape(mapping)):
        gg.evaluate(traces, iteration_base=0)
    found = gg.evaluate(
        traces, iteration_base=0, mapping={"gain": "relevance", "ids.doc_id": "document_id"}
    )
    row = found.conversations[0]
    assert (row["N"], row["CG"], row["DupR"]) == (2, 3, 2)
    assert found.manifest.warnings == ()
    with pytest.warns(gg.GoodGainWarning, match="none of the first records has: relevanse"):
        gg.evaluate(traces, iteration_base=0, mapping="gain=relevanse")


def test_text_shows_the_mean_over_population_all():
    idle = {"conversation_id": "c-9", "iteration": 1, "turn": 1, "turn_count": 2}
    run = gg.evaluate([*CALLS, idle])
    mean = run.means.where(slice={}, metric="CG", i=None, population="all")[0]["mean"]
    assert mean != run.means.where(slice={}, metric="CG", i=None, population="everyone")[0]["mean"]
    assert f"Gain (CG) {mean:.3f}" in " ".join(repr(run).split())


def test_shows_rejected_records_and_warnings(tmp_path, capsys):
    records = [
        {"conversation_id": "c", "iteration": 1, "results": [{"relevance": 3}]},
        {"conversation_id": "d", "iteration": 0, "results": []},
    ]
    with pytest.warns(gg.GoodGainWarning) as emitted:
        run = gg.evaluate(records)
    texts = [str(warning.message) for warning in emitted]
    assert texts[-1] == (
        "rejected_records: Rejected: 1 of 2 records; see the table `rejected`. First: traces, "
        "record 2: iteration must be a whole number from 1 to 2147483647, got 0; if iterations are "
        "counted from 0, add iteration_base=0."
    )
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    output = str(tmp_path / "out")
    words = ["--input", str(path), "--output", output, "--max-rejected", "100%"]
    assert main(["run", *words]) == 3  # no labels
    printed = " ".join(capsys.readouterr().out.split())
    codes = ["no_labels", "unknown_fields", "no_identity"]
    assert [warning.code for warning in run.warnings] == [*codes, "rejected_records"]
    for warning in run.manifest.warnings:
        assert f"Warning ({warning.code}): {warning.message} {warning.remedy}" in printed
    loaded = gg.load(output)
    assert [warning.code for warning in loaded.warnings] == [*codes, "rejected_records"]
    assert "add --map gain=relevance" in repr(loaded)  # as the command said it
    assert "add --iteration-base 0." in repr(loaded)
    assert any('add mapping={"gain": "relevance"}' in text for text in texts)
    shown = repr(run)  # a notebook has shown the texts where they were emitted
    assert f"warned of: {', '.join([*codes, 'rejected_records'])}; see `run.warnings`" in shown
    assert shown.count("Rejected") == shown.count("Warning") == 0
    assert "Rejected" not in repr(gg.evaluate(records[:1]))


@pytest.mark.parametrize("long", [False, True])
def test_following_the_advice_on_identity_keeps_distinct_documents_apart(long):
    rows = [
        {
            "conversation_id": f"c{number // 10}",
            "iteration": number % 10 // 5 + 1,
            "doc_id": f"d{number % 5}",
            "market": "de",
            "gain": 2,
        }
        for number in range(50)
    ]
    nested = [
        {
            "conversation_id": rows[at]["conversation_id"],
            "iteration": rows[at]["iteration"],
            "results": [
                {name: row[name] for name in ("doc_id", "market", "gain")}
                for row in rows[at : at + 5]
            ],
        }
        for at in range(0, 50, 5)
    ]
    traces = pl.DataFrame(rows) if long else nested
    (advice,) = (
        warning for warning in gg.evaluate(traces).warnings if warning.code == "no_identity"
    )
    assert "ids.doc_id" in advice.remedy
    assert "market" not in advice.remedy
    followed = gg.evaluate(traces, mapping={"ids.doc_id": "doc_id"})
    assert [row["DupR"] for row in followed.conversations] == [5] * 5
    assert [warning.code for warning in followed.warnings] == ["unknown_fields"]  # market


@needs_native
def test_native_code_folds_and_duplicates_are_found_when_asked_for(monkeypatch, tmp_path):
    folds = count_folds(monkeypatch)
    evaluated = gg.evaluate(SAMPLE)
    scored = evaluated.manifest.conversations.total
    assert folds == {True: scored}
    assert run(tmp_path / "out", [SAMPLE], "--write-duplicates") == 0
    assert sort_found(evaluated.duplicates.stored()) == sort_found(
        rows(tmp_path / "out", "duplicates")
    )
