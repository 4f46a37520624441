"""`goodgain export` writes metrics with the session and trace ids of the imported spans."""

import json

import pytest

from goodgain import evaluate
from goodgain.pipeline.__main__ import main
from tests.pipeline.convert.importing import FIXTURES
from tests.pipeline.convert.steps import goodgain, goodgain_run, records_of

SESSION_TRACE = "000000000000abc10000000000000007"
ALONE = "000000000000abc20000000000000007"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    spans = FIXTURES / "otlp_openinference.jsonl"
    goodgain("convert", "--from", "otlp", spans, "--output", folder / "t.parquet")
    goodgain_run(folder / "out", "--input", folder / "t.parquet")
    return folder


def export(run, tool, *words):
    output = run / f"{tool}.jsonl"
    goodgain("export", run / "out", "--to", tool, "--output", output, *words)
    return records_of(output)


@pytest.mark.slow
class TestExport:
    def test_otlp_events_have_the_root_span_of_the_last_turn(self, run):
        requests = export(run, "otlp", "--metric", "N", "DupR", "ndcg@10")
        records = [
            record
            for request in requests
            for record in request["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
        ]
        assert {record["eventName"] for record in records} == {"gen_ai.evaluation.result"}
        found = {}
        for record in records:
            values = {attribute["key"]: attribute["value"] for attribute in record["attributes"]}
            name = values["gen_ai.evaluation.name"]["stringValue"]
            value = values["gen_ai.evaluation.score.value"]["doubleValue"]
            conversation = values["gen_ai.conversation.id"]["stringValue"]
            found[conversation, record["traceId"], record["spanId"], name] = value
        assert found == {
            ("trip-42", SESSION_TRACE, "000000a300000000", "N"): 3,
            ("trip-42", SESSION_TRACE, "000000a300000000", "DupR"): 2,
            (ALONE, ALONE, "000000af00000000", "N"): 1,
            (ALONE, ALONE, "000000af00000000", "DupR"): 0,
        }

    def test_langfuse_scores_have_the_session_id_or_else_the_trace_id(self, run):
        rows = export(run, "langfuse", "--metric", "DupR")
        scores = [{name: row[name] for name in row if name != "id"} for row in rows]
        assert {
            "sessionId": "trip-42",
            "name": "DupR",
            "value": 2.0,
            "dataType": "NUMERIC",
        } in scores
        assert {"traceId": ALONE, "name": "DupR", "value": 0.0, "dataType": "NUMERIC"} in scores
        assert len({row["id"] for row in rows}) == 2
        assert export(run, "langfuse", "--metric", "DupR") == rows

    def test_mlflow_feedback_has_the_trace_of_the_last_turn(self, run):
        rows = export(run, "mlflow", "--metric", "R")
        assert {(row["trace_id"], row["feedback"]["value"]) for row in rows} == {
            (SESSION_TRACE, 6.0),
            (ALONE, 2.0),
        }

    def test_all_metrics_are_written_and_nulls_counted(self, run, capsys):
        rows = export(run, "langfuse", "--json")
        counts = json.loads(capsys.readouterr().out)
        assert counts["conversations"] == 2
        assert counts["scores"] == len(rows) > 20
        assert counts["undefined"] > 0
        assert "conversation_id" not in {row["name"] for row in rows}

    def test_summary_uses_the_singular(self, tmp_path, capsys):
        call = {"conversation_id": "c", "iteration": 1, "results": [{"gain": 3}]}
        evaluate([call]).save(tmp_path / "out")
        words = [str(tmp_path / "out"), "--to", "mlflow", "--output", str(tmp_path / "scores")]
        assert main(["export", *words, "--metric", "CG", "auc"]) == 0
        assert capsys.readouterr().out == (
            f"{words[-1]}: 1 score of 1 conversation; 1 value is undefined and left out.\n"
            "1 conversation does not say which trace it comes from; its conversation_id is used "
            "instead.\n"
        )

    def test_another_tool_is_refused(self, capsys):
        assert main(["export", "out", "--to", "phoenix", "--output", "x"]) == 2
        assert (
            "--to must be 'otlp', 'langfuse', 'mlflow' or 'browsecomp-plus'"
            in capsys.readouterr().err
        )

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ("gone --to otlp --output x", "no output of a run in gone,"),
            ("out --to otlp --output x --metric ndgc", "no metric ndgc of conversations"),
            ("out --to otlp --output no/x", "no/x cannot be written"),
        ],
    )
    def test_mistakes_give_one_line(self, run, monkeypatch, words, message, capsys):
        monkeypatch.chdir(run)
        assert main(["export", *words.split()]) == 2
        captured = capsys.readouterr()
        assert message in captured.err
        assert captured.err.count("\n") == 1
        assert not (run / "x").exists()
