"""Tables, nested documents, and all supported forms of files."""

import bz2
import gzip
import json

import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.convert.importing import raw_records
from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.transforms.core.errors import UsageError
from tests.core.direct import score
from tests.pipeline.convert.importing import (
    FIXTURES,
    SPANS,
    import_and_count,
    import_records,
    places,
)
from tests.pipeline.convert.steps import goodgain, records_of

TABLE = [
    {"query_id": "1", "iteration": 1, "query": "a", "rank": 2, "docid": "y", "relevance": 0},
    {"query_id": "1", "iteration": 1, "query": "a", "rank": 1, "docid": "x", "relevance": 3},
    {"query_id": "1", "iteration": 2, "query": "b", "rank": 1, "docid": "x", "relevance": 3},
    {"query_id": "1", "iteration": 2, "query": "c", "rank": 1, "docid": "z", "relevance": 2},
    {"query_id": "2", "iteration": 1, "query": "d"},
]


OTHER_NAMES = """\
session,step,question,position,link,rel,model,latency_ms,ids.file_id
s1,1,kites,2,https://ex.org/b,0,gpt,55,f2
s1,1,kites,1,https://ex.org/a,3,gpt,55,f1
s1,2,kite food,1,https://ex.org/a,3,gpt,40,f1
"""


class TestTable:
    def test_what_is_proposed_for_other_names_reads_every_column(self, tmp_path, capsys):
        table, traces = tmp_path / "log.csv", tmp_path / "traces.jsonl"
        table.write_text(OTHER_NAMES)
        command = ["convert", "--from", "table", str(table), "--output", str(traces)]
        assert main(command) == 2
        message = capsys.readouterr().err
        assert "2 times" not in message
        assert "3 times a row without a conversation" in message
        proposed = message.partition("--map ")[2].strip().rstrip(".")
        assert {pair.partition("=")[2] for pair in proposed.split(",")} == set(
            OTHER_NAMES.splitlines()[0].split(",")
        )
        assert main([*command, "--map", proposed]) == 0
        assert "not read" not in capsys.readouterr().out
        first, second = records_of(traces)
        assert [result["ids"] for result in first["results"]] == [
            {"file_id": "f1"},
            {"file_id": "f2"},
        ]
        assert (first["conversation_id"], first["query"], first["costs"], first["attributes"]) == (
            "s1", "kites", {"milliseconds": 55}, {"model": "gpt"}
        )  # fmt: skip
        assert second["iteration"] == 2

    def test_map_reads_paths_of_any_format_and_leaves_fields_out(self, tmp_path):
        spans, traces = tmp_path / "spans.jsonl", tmp_path / "traces.jsonl"
        document = {"url": "https://ex.org/a", "title": "A", "label": 3}
        span = {"t": "T", "i": "1", "s": 1, "k": "search", "d": [document], "meta": {"arm": "b"}}
        spans.write_text(json.dumps(span))
        mapping = tmp_path / "mapping.yaml"
        mapping.write_text(SPANS.replace("url: url", "url: url, title: title"))
        goodgain(
            "convert", "--from", "custom", spans, "--mapping", mapping, "--output", traces,
            "--map", "gain=label,attributes.arm=meta.arm", "title=",
        )  # fmt: skip
        (record,) = records_of(traces)
        assert record["results"] == [{"url": "https://ex.org/a", "gain": 3}]
        assert record["attributes"]["arm"] == "b"

    def test_map_refuses_what_the_mapping_counts_itself(self, tmp_path, capsys):
        spans = tmp_path / "spans.jsonl"
        spans.write_text("{}")
        words = ["--output", str(tmp_path / "t.jsonl"), "--map", "iteration=step"]
        assert main(["convert", "--from", "otlp", str(spans), *words]) == 2
        assert "--map cannot name iteration" in capsys.readouterr().err

    def test_rows_become_ranked_calls(self, tmp_path):
        path = tmp_path / "t.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in TABLE))
        records, counts = import_and_count([path], format="table")
        assert places(records) == [
            ("1", 1, 1, 0, "a"),
            ("1", 1, 2, 0, "b"),
            ("1", 1, 2, 1, "c"),
            ("2", 1, 1, 0, "d"),
        ]
        assert records[0]["results"] == [
            {"ids": {"doc_id": "x"}, "gain": 3},
            {"ids": {"doc_id": "y"}, "gain": 0},
        ]
        assert records[3]["results"] == []
        assert (counts.labelled, counts.found_nothing) == (4, 1)
        row = score(records)["1"].conversation
        assert (row.N, row.R, row.UR, row.GR, row.CG) == (2, 4, 3, 2, 5)

    def test_csv_and_parquet_give_the_same_records(self, tmp_path):
        names = list(TABLE[0])
        lines = [",".join(str(row.get(name, "")) for name in names) for row in TABLE]
        (tmp_path / "t.csv").write_text("\n".join([",".join(names), *lines]), encoding="utf-8-sig")
        (tmp_path / "t.tsv").write_text("\n".join(["\t".join(names), *lines]).replace(",", "\t"))
        table = pyarrow.Table.from_pylist(TABLE)
        pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
        (tmp_path / "t.json").write_text(json.dumps(TABLE, indent=1))
        expected, _ = import_and_count([tmp_path / "t.json"], format="table")
        for name in ("t.csv", "t.tsv", "t.parquet"):
            assert import_and_count([tmp_path / name], format="table")[0] == expected

    def test_columns_that_the_mapping_does_not_read_are_counted(self, tmp_path, capsys):
        path = tmp_path / "t.csv"
        path.write_text("topic,rank,docid,ids.file_id,market,note\nt,1,x,f1,de,\nt,2,y,f2,,\n")
        _, counts = import_and_count([path], format="table")
        assert counts.unread == {"ids.file_id": 2, "market": 1}
        assert main(["convert", "--from", "table", str(path), "--output", f"{path}.jsonl"]) == 0
        line = (
            "2  columns are not in the mapping, so they are not read: ids.file_id 2, market 1; to "
            "read what is like a field, add --map attributes.market=market,ids.file_id=ids.file_id"
        )
        assert line in capsys.readouterr().out

    def test_traces_are_not_a_table(self, tmp_path, capsys):
        path = tmp_path / "t.jsonl"
        path.write_text('{"conversation_id": "c", "iteration": 1, "results": [{"id": "a"}]}\n')
        assert main(["convert", "--from", "table", str(path), "--output", f"{path}.jsonl"]) == 0
        shown = capsys.readouterr().out
        assert "results 1; if these are traces, `goodgain run` reads them as they are" in shown
        assert "--map" not in shown

    def test_rows_with_an_invalid_number_are_reported(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("topic,iteration,docid\n1,first,x\n,1,x\n1,1,y\n")
        records, counts = import_and_count([path], format="table")
        assert len(records) == 1
        assert {reason: skipped.example for reason, skipped in counts.skipped.items()} == {
            "a row whose iteration is not a whole number": f"{path}: line 2",
            "a row without a conversation": f"{path}: line 3",
        }

    def test_rows_with_more_cells_than_the_header_are_reported(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("\ntopic, title ,docid,gain\n1,Hello, world,2,3\n1,Hello,x,3,,\n")
        records, counts = import_and_count([path], format="table")
        assert [record["results"] for record in records] == [
            [{"ids": {"doc_id": "x"}, "title": "Hello", "gain": 3}]
        ]
        assert {reason: skipped.example for reason, skipped in counts.skipped.items()} == {
            "a row with more cells than the header has names": f"{path}: line 3"
        }

    @pytest.mark.parametrize("rest", ["", '1,"Third",z,1\n'])
    def test_an_open_quotation_mark_does_not_swallow_the_rows_after_it(self, tmp_path, rest):
        path = tmp_path / "t.csv"
        path.write_text('topic,title,docid,gain\n1,First,x,3\n1,"Second,y,2\n1,Other,w,2\n' + rest)
        with pytest.raises(UsageError, match=r"t\.csv cannot be read as CSV: .* line 3; .*quot"):
            import_and_count([path], format="table")


class TestNestedDocuments:
    def test_each_level_is_read_with_its_number(self, tmp_path):
        hit = {"link": "https://a.example/1", "title": "One", "label": 3}
        document = {
            "id": "c1",
            "arm": "base",
            "turns": [
                {"steps": [{"searches": [{"q": "first"}]}]},
                {
                    "steps": [
                        {"tokens": 9, "searches": [{"q": "a", "hits": [hit]}, {"q": "b"}]},
                        {"searches": []},
                        {"searches": [{"q": "c", "milliseconds": 5, "hits": [hit]}]},
                    ]
                },
            ],
        }
        path = tmp_path / "d.json"
        path.write_text(json.dumps(document, indent=1))
        records, _ = import_and_count([path])
        assert places(records) == [
            ("c1", 1, 1, 1, "first"),
            ("c1", 2, 1, 1, "a"),
            ("c1", 2, 1, 2, "b"),
            ("c1", 2, 3, 1, "c"),
        ]
        assert records[1]["results"] == [{"url": "https://a.example/1", "title": "One", "gain": 3}]
        assert [record["costs"] for record in records[1:]] == [
            {"tokens": 9},
            {"tokens": 9},
            {"milliseconds": 5},
        ]
        assert records[0]["attributes"] == {"arm": "base"}
        row = score(records)["c1"].conversation
        assert (row.turn, row.N, row.R, row.DupR, row.CG) == (2, 2, 2, 1, 3)

    def test_calls_without_numbers_are_iterations_by_time(self, tmp_path):
        mapping = "{unit: call, conversation: c, time: t, time_unit: s, query: q, results: d}"
        rows = [{"c": "x", "t": 20, "q": "b"}, {"c": "x", "t": 10, "q": "a"}]
        records, _ = import_records(tmp_path, rows, mapping)
        assert places(records) == [("x", 1, 1, 0, "a"), ("x", 1, 2, 0, "b")]
        assert [record["timestamp"] for record in records] == [10_000, 20_000]


class TestForms:
    def whole(self):
        return import_and_count([FIXTURES / "otlp_openinference.jsonl"], format="otlp")

    @pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, zstandard.compress])
    def test_compressed(self, tmp_path, pack):
        path = tmp_path / "spans"
        path.write_bytes(pack((FIXTURES / "otlp_openinference.jsonl").read_bytes()))
        assert import_and_count([path], format="otlp") == self.whole()

    @pytest.mark.parametrize("indent", [None, 1])
    def test_one_document_with_all_resources(self, tmp_path, indent):
        requests = records_of(FIXTURES / "otlp_openinference.jsonl")
        together = {"resourceSpans": [request["resourceSpans"][0] for request in requests]}
        path = tmp_path / "spans.json"
        path.write_text(json.dumps(together, indent=indent))
        assert import_and_count([path], format="otlp") == self.whole()

    def test_a_list_of_requests(self, tmp_path):
        requests = records_of(FIXTURES / "otlp_openinference.jsonl")
        path = tmp_path / "spans.json"
        path.write_text("\ufeff" + json.dumps(requests, indent=1), encoding="utf-8")
        assert import_and_count([path], format="otlp") == self.whole()

    def test_a_line_too_long_for_memory_is_streamed(self, tmp_path, monkeypatch):
        monkeypatch.setattr(raw_records, "_LONG_LINE", 1000)
        requests = records_of(FIXTURES / "otlp_openinference.jsonl")
        together = {"resourceSpans": [request["resourceSpans"][0] for request in requests]}
        path = tmp_path / "spans.json"
        path.write_text(json.dumps(together))
        assert import_and_count([path], format="otlp") == self.whole()

    def test_runs_under_a_key(self, tmp_path):
        runs = records_of(FIXTURES / "langsmith.jsonl")
        path = tmp_path / "runs.json"
        path.write_text(json.dumps({"cursor": {"runs": []}, "runs": runs}, indent=1))
        expected = import_and_count([FIXTURES / "langsmith.jsonl"], format="langsmith")
        assert import_and_count([path], format="langsmith") == expected

    def test_langsmith_parquet_with_json_in_texts(self, tmp_path):
        runs = records_of(FIXTURES / "langsmith.jsonl")
        kept = ("id", "trace_id", "parent_run_id", "run_type", "name", "start_time", "end_time")
        rows = [
            {name: run[name] for name in (*kept, "total_tokens", "total_cost")}
            | {name: json.dumps(run[name]) for name in ("inputs", "outputs", "extra")}
            for run in runs
        ]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "runs.parquet")
        expected = import_and_count([FIXTURES / "langsmith.jsonl"], format="langsmith")
        assert import_and_count([tmp_path / "runs.parquet"], format="langsmith") == expected

    def test_langfuse_csv(self, tmp_path):
        rows = records_of(FIXTURES / "langfuse_blob.jsonl")
        names = sorted({name for row in rows for name in row})
        lines = [",".join(names)]
        for row in rows:
            values = [row.get(name) for name in names]
            texts = [
                "" if value is None else value if isinstance(value, str) else json.dumps(value)
                for value in values
            ]
            lines.append(",".join('"' + text.replace('"', '""') + '"' for text in texts))
        (tmp_path / "rows.csv").write_text("\r\n".join(lines))
        expected = import_and_count([FIXTURES / "langfuse_blob.jsonl"], format="langfuse")
        assert import_and_count([tmp_path / "rows.csv"], format="langfuse") == expected

    def test_a_bad_line_and_a_truncated_end_are_reported(self, tmp_path):
        path = tmp_path / "rows.jsonl.gz"
        rows = "".join(json.dumps(row) + "\n" for row in TABLE) + "not JSON\n" + "x" * 5000
        path.write_bytes(gzip.compress(rows.encode(), 0)[:-20])
        records, counts = import_and_count([path], format="table")
        assert len(records) == 4
        examples = {reason: skipped.example for reason, skipped in counts.skipped.items()}
        assert examples == {
            "text that is not JSON": f"{path}: line 6",
            "a file that is damaged or truncated; read up to there": str(path),
        }

    def test_a_truncated_document_gives_the_records_before(self, tmp_path):
        path = tmp_path / "rows.json"
        path.write_text(json.dumps(TABLE, indent=1)[:-40])
        records, counts = import_and_count([path], format="table")
        assert len(records) == 3
        assert len(counts.skipped) == 1


def test_memory_does_not_grow_with_a_document(tmp_path):
    """All spans are on one line, and only one of them is decoded at a time."""
    span = {"traceId": "00" * 16, "spanId": "01" * 8, "startTimeUnixNano": "1", "name": "x" * 1000}
    begin = b'{"resourceSpans":[{"resource":{},"scopeSpans":[{"spans":['
    path = tmp_path / "one-line.json"
    with path.open("wb") as file:
        file.write(begin)
        for at in range(3_000):
            file.write((b"," if at else b"") + json.dumps(span).encode())
        file.write(b"]}]}]}")
    position = 0
    with path.open("rb") as file:
        from goodgain.pipeline.convert.importing.formats.catalog import FORMATS

        for _ in FORMATS["otlp"].read_document(file):
            if not position:
                position = file.tell()
                break
    assert 0 < position < path.stat().st_size / 10


def test_show_mapping_prints_the_mapping_that_is_used(tmp_path, capsys):
    goodgain("convert", "--from", "otlp", "--show-mapping")
    (tmp_path / "own.yaml").write_text(capsys.readouterr().out.replace("input.value", "in.value"))
    spans = FIXTURES / "otlp_openinference.jsonl"
    traces = tmp_path / "t.jsonl"
    words = ["--from", "otlp", spans, "--mapping", tmp_path / "own.yaml", "--output", traces]
    goodgain("convert", *words, "--json")
    assert {record["query"] for record in records_of(traces)} == {None}
    counts = json.loads(capsys.readouterr().out)
    assert counts["tools"]["search_web"]["action"] == "search"
    assert set(counts) == set(ImportCounts.__struct_fields__)
