"""`goodgain convert` reports mistakes in a file with their line."""

import json

import pytest

from goodgain.pipeline.__main__ import main
from tests.pipeline.convert.steps import RUN
from tests.pipeline.runs import call


class TestMistakes:
    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("t Q0 d 1 2", "six fields between white space; this one has 5"),
            ("t Q0 d 1 high x", "the score is 'high'"),
            ("t Q0 d 1 inf x", "the score is 'inf'"),
            ("t Q0 first 7 3 x", "document first is already on line 1"),
            ('{"topic": 1}', "JSON"),
        ],
    )
    def test_in_a_run_are_reported_with_the_line(self, tmp_path, line, message, capsys):
        run, traces = tmp_path / "run", tmp_path / "traces.jsonl"
        run.write_text(f"t Q0 first 1 2 x\n\n{line}\n")
        assert main(["convert", "--from-run", str(run), "--to-traces", str(traces)]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"goodgain: {run}:3: ")
        assert message in error
        assert [path.name for path in tmp_path.iterdir()] == ["run"]

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("t 0 d", "this one has 3"),
            ("t 0 d 5", "The label is 5"),
            ("t 0 first 1", "another label on line 1"),
        ],
    )
    def test_in_qrels_are_reported_with_the_line(self, tmp_path, line, message, capsys):
        run, qrels = tmp_path / "run", tmp_path / "qrels"
        run.write_text("t Q0 first 1 2 x\n")
        qrels.write_text(f"t 0 first 2\n{line}\n")
        words = ["--from-run", run, "--from-qrels", qrels, "--to-traces", tmp_path / "t.avro"]
        assert main(["convert", *map(str, words)]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"goodgain: {qrels}:2: ")
        assert message in error

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ("", "Give --from and --output, --from-run and --to-traces, or"),
            ("--from-run a --to-run b", "different directions"),
            ("--from-run a --to-traces b.jsonl", "a cannot be read"),
            ("--from-traces a", "needs --to-run, --to-qrels or both"),
            ("--from-traces a --to-run b --to-qrels b", "must be two files"),
            ("--from-traces a --to-run b", "No file matches a"),
            (f"--from-run {RUN} --to-traces b.txt", "The format of b.txt is unknown"),
            (f"--from-run {RUN} --to-traces no/b.avro", "no/b.avro cannot be written"),
            ("--from-run a --to-traces b --iteration-pattern x", "needs --iteration-from"),
            (
                f"--from-run {RUN} --to-traces b.avro --iteration-from tag --iteration-pattern (",
                "is not a regular expression",
            ),
            (
                f"--from-run {RUN} --to-traces b.avro --iteration-from tag",
                "results.test:1: the tag",
            ),
        ],
    )
    def test_in_options_give_one_line(self, tmp_path, monkeypatch, words, message, capsys):
        monkeypatch.chdir(tmp_path)
        assert main(["convert", *words.split()]) == 2
        captured = capsys.readouterr()
        assert message in captured.err
        assert captured.err.count("\n") == 1
        assert list(tmp_path.iterdir()) == []

    def test_in_values_of_options_are_listed(self, capsys):
        words = "--from-run a --to-traces b --iteration-from rank --label-map 1=9"
        assert main(["convert", *words.split()]) == 2
        error = capsys.readouterr().err
        assert "--iteration-from must be 'tag' or 'q0', not 'rank'" in error
        assert "--label-map cannot be used" in error

    def test_in_labels_without_a_gain_are_named(self, tmp_path, capsys):
        table = tmp_path / "results.csv"
        table.write_text("conversation_id,iteration,id,gain\nc,1,a,good\nc,1,b,ok\n")
        words = ["--from", "table", str(table), "--output", str(tmp_path / "traces.jsonl")]
        assert main(["convert", *words, "--label-map", "good=3"]) == 2
        assert 'got text "ok (not in --label-map)"' in capsys.readouterr().err


class TestOutputs:
    """What is read must not be written over, also by another name."""

    TRACES = json.dumps(call("c", 1, [{"ids": {"doc_id": "d"}, "gain": 2}])) + "\n"

    @pytest.mark.parametrize(
        "words",
        [
            ["--from", "table", "in.jsonl", "--output", "./in.jsonl"],
            ["--from", "table", "in.jsonl", "--output", "link.jsonl"],
            ["--from-traces", "in.jsonl", "--to-run", "in.jsonl"],
            ["--from-traces", "*.jsonl", "--to-run", "run", "--to-qrels", "in.jsonl"],
            ["--from-run", "run.jsonl", "--to-traces", "run.jsonl"],
            ["--from-run", "run.jsonl", "--from-qrels", "in.jsonl", "--to-traces", "in.jsonl"],
        ],
    )
    def test_an_input_is_not_written_over(self, words, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "in.jsonl").write_text(self.TRACES)
        (tmp_path / "run.jsonl").write_text("c Q0 d 1 2 x\n")
        (tmp_path / "link.jsonl").symlink_to("in.jsonl")
        assert main(["convert", *words]) == 2
        assert f"{words[-1]} is read, and would be written over" in capsys.readouterr().err
        assert (tmp_path / "in.jsonl").read_text() == self.TRACES
        assert (tmp_path / "run.jsonl").read_text() == "c Q0 d 1 2 x\n"
