"""A TREC run and its qrels become traces with the same ranking."""

import gzip
import json

import fastavro
import pytest
import pytrec_eval

from goodgain.pipeline.convert.to_traces import (
    IterationSource,
    TraceCounts,
    compile_pattern,
    rank_lines,
    trace_records,
)
from goodgain.pipeline.convert.trec_file import RunLine, TrecFile
from tests.conformity import trec_tables
from tests.pipeline.convert.steps import (
    RUN,
    goodgain,
    records_of,
)


class TestRunToTraces:
    def test_ranks_like_trec_eval(self, tmp_path):
        traces = tmp_path / "traces.jsonl"
        goodgain("convert", "--from-run", RUN, "--to-traces", traces)
        found = {
            record["conversation_id"]: [result["ids"]["doc_id"] for result in record["results"]]
            for record in records_of(traces)
        }
        assert found == trec_tables.documents_by_rank()

    def test_scores_equal_in_single_precision_are_tied(self):
        lines = [
            RunLine(1, "Q0", "a", 1.00000001, "t"),
            RunLine(2, "Q0", "b", 1.0, "t"),
            RunLine(3, "Q0", "z", 1e300, "t"),
        ]
        assert [line.document for line in rank_lines(lines)] == ["z", "b", "a"]
        theirs = pytrec_eval.RelevanceEvaluator({"q": {"b": 1}}, {"recip_rank"}).evaluate(
            {"q": {line.document: line.score for line in lines}}
        )
        assert theirs["q"]["recip_rank"] == 1 / 2

    def test_labels_scores_and_counts(self, tmp_path):
        run, qrels, traces = (tmp_path / name for name in ("run", "qrels", "traces.jsonl"))
        run.write_text("2 Q0 b 1 0.5 x\n1 Q0 a 1 -1e3 x\n\n2 Q0 c 2 0.25 x\n3 Q0 a 1 1 x\n")
        qrels.write_text("2 0 b 3\n2 0 c -1\n2 0 never 1\n1 0 z 0\n9 0 a 1\n1 0 z 0\n")
        counts = TraceCounts()
        records = list(trace_records(TrecFile(run), TrecFile(qrels), IterationSource(), counts))
        assert [record["conversation_id"] for record in records] == ["2", "1", "3"]
        assert records[0]["results"] == [
            {"ids": {"doc_id": "b"}, "score": 0.5, "gain": 3},
            {"ids": {"doc_id": "c"}, "score": 0.25},
        ]
        assert records[1]["results"] == [{"ids": {"doc_id": "a"}, "score": -1000.0}]
        assert counts == TraceCounts(
            conversations=3,
            calls=3,
            results=4,
            unjudged=3,
            never_retrieved=2,
            topics_without_judgments=1,
            topics_without_results=1,
        )
        goodgain("convert", "--from-run", run, "--from-qrels", qrels, "--to-traces", traces)
        assert records_of(traces) == records

    @pytest.mark.parametrize(
        "name", ["t.avro", "t.parquet", "t.jsonl", "t.jsonl.bz2", "t.jsonl.zst"]
    )
    def test_every_format_can_be_read(self, tmp_path, name, capsys):
        judged = trec_tables.DATA / "qrels.test"
        goodgain(
            *("convert", "--from-run", RUN, "--from-qrels", judged),
            *("--to-traces", tmp_path / name),
        )
        capsys.readouterr()
        goodgain("validate", tmp_path / name, "--json")
        report = json.loads(capsys.readouterr().out)
        assert (report["records"]["usable"], report["records"]["rejected"]) == (3, 0)
        assert (report["results"], report["results_with_score"]) == (1500, 1500)
        assert (report["labels"]["0"], report["labels"]["1"]) == (607, 131)

    @pytest.mark.parametrize("pack", [bytes, gzip.compress])
    def test_topics_may_be_scattered_and_files_compressed(self, tmp_path, pack):
        lines = (trec_tables.DATA / "results.test").read_bytes().splitlines(keepends=True)
        scattered = [line for start in range(7) for line in lines[start::7]]
        run = tmp_path / "run"
        run.write_bytes(pack(b"".join(scattered)))
        found = {
            record["conversation_id"]: record["results"]
            for record in trace_records(TrecFile(run), None, IterationSource(), TraceCounts())
        }
        straight = trace_records(TrecFile(RUN), None, IterationSource(), TraceCounts())
        assert found == {record["conversation_id"]: record["results"] for record in straight}

    @pytest.mark.parametrize(
        ("field", "pattern", "lines"),
        [
            ("tag", r"(\d+)$", ["s Q0 a 1 2 mine-2", "s Q0 b 1 1 mine-10", "s Q0 a 2 1 mine-2"]),
            ("q0", r"it(\d+)x", ["s it2x a 1 2 m", "s it10x b 1 1 m", "s it2x a 2 1 m"]),
            ("q0", r"\d+", ["s 2 a 1 2 m", "s 10 b 1 1 m", "s 2 a 2 1 m"]),
        ],
    )
    def test_the_iteration_comes_from_the_tag_or_q0(self, tmp_path, field, pattern, lines):
        run = tmp_path / "run"
        run.write_text("\n".join(lines).replace(" a 2", " c 2"))
        iterations = IterationSource(field, compile_pattern(pattern))
        records = list(trace_records(TrecFile(run), None, iterations, TraceCounts()))
        assert [record["iteration"] for record in records] == [2, 10]
        assert [len(record["results"]) for record in records] == [2, 1]

    def test_a_document_may_return_in_another_iteration(self, tmp_path):
        run, traces = tmp_path / "run", tmp_path / "traces.avro"
        run.write_text("s 1 a 1 2 m\ns 2 a 1 2 m\n")
        goodgain("convert", "--from-run", run, "--to-traces", traces, "--iteration-from", "q0")
        with traces.open("rb") as file:
            assert [record["iteration"] for record in fastavro.reader(file)] == [1, 2]
