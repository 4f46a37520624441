"""Failing runs: their messages, exit codes and remaining files (SPEC 3, 6)."""

import errno
import json
import os
import signal
from pathlib import Path

import pytest

import goodgain.pipeline.run.hosts.graph
from goodgain.pipeline.results.balance import check_records, records_in
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.transforms.core.errors import BalanceError, GoodGainError
from goodgain.transforms.core.scoring.score_payloads import PayloadScorer
from tests.forked import in_process
from tests.pipeline.runs import SAMPLE, contents, manifest, names_in, rows, run, write_jsonl

pytestmark = pytest.mark.slow

GOOD = {"conversation_id": "good", "iteration": 1, "results": [{"gain": 3}]}


def call(conversation_id, iteration=1, **more):
    return {**GOOD, "conversation_id": conversation_id, "iteration": iteration, **more}


def error_message(capsys):
    """The message of a failed command: the last line of stderr, after progress."""
    lines = capsys.readouterr().err.strip().splitlines()
    assert not any("Traceback" in line for line in lines)
    assert lines[-1].startswith("goodgain: ")
    return lines[-1].removeprefix("goodgain: ")


@pytest.fixture
def good(tmp_path):
    return write_jsonl(tmp_path / "good.jsonl", [GOOD])


def run_until(moment, output):
    """Run, but kill the process when it calls a function."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moment, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        run(output, [SAMPLE])


class TestUsage:
    def test_rejects_a_pattern_without_match(self, tmp_path, capsys):
        assert run(tmp_path / "out", [tmp_path / "none*.jsonl"]) == ExitCode.USAGE
        assert "matches no file" in error_message(capsys)
        assert not (tmp_path / "out").exists()

    def test_a_run_that_fails_leaves_nothing_that_was_not_there(self, good, tmp_path, capsys):
        few = "--max-held-bytes=1"
        assert run(tmp_path / "new" / "out", [good], few) == ExitCode.FAILED
        assert names_in(tmp_path) == ["good.jsonl"]
        (tmp_path / "old").mkdir()
        assert run(tmp_path / "old" / "out", [good], few) == ExitCode.FAILED
        assert run(tmp_path / "old", [good], few) == ExitCode.FAILED
        assert names_in(tmp_path) == ["good.jsonl", "old"]
        assert names_in(tmp_path / "old") == []

    def test_a_run_whose_outputs_cannot_be_published_leaves_nothing(
        self, good, tmp_path, monkeypatch
    ):
        def fail(*_):
            raise GoodGainError("no report")

        monkeypatch.setattr("goodgain.pipeline.views.pages.run.build_report", fail)
        assert run(tmp_path / "out", [good]) == ExitCode.FAILED
        assert names_in(tmp_path) == ["good.jsonl"]

    def test_wrong_usage_keeps_earlier_outputs(self, good, tmp_path):
        assert run(tmp_path / "out", [good]) == ExitCode.DONE
        before = contents(tmp_path / "out")
        mistakes = (
            ([good], "--runner=NoRunner"),
            ([good], "--direct_num_worker=2"),
            ([good], "--direct_num_workers=two"),
            ([good], "--rules=none.yaml"),
            ([tmp_path / "none.avro"], "--max-i=3"),
        )
        for inputs, option in mistakes:
            assert run(tmp_path / "out", inputs, "--overwrite", option) == ExitCode.USAGE
        assert contents(tmp_path / "out") == before


class TestInterruptedRuns:
    """A failed or killed run leaves nothing that looks finished, and --overwrite repairs it."""

    def assert_unfinished_and_repaired(self, output):
        assert names_in(output) in ([], [".unfinished"])
        if names_in(output):
            assert run(output, [SAMPLE]) == ExitCode.USAGE
        assert run(output, [SAMPLE], "--overwrite") == ExitCode.DONE
        assert "manifest.json" in names_in(output)
        assert ".unfinished" not in names_in(output)

    def test_reports_an_exception_in_a_step(self, tmp_path, capsys, monkeypatch):
        score = PayloadScorer.score
        last = max(row["conversation_id"] for row in self.expected(tmp_path))

        def raising(scorer, conversation_id, *rest):
            if conversation_id == last:
                raise ZeroDivisionError("no score")
            return score(scorer, conversation_id, *rest)

        with monkeypatch.context() as context:
            context.setattr(PayloadScorer, "score", raising)
            assert run(tmp_path / "out", [SAMPLE]) == ExitCode.FAILED
        assert error_message(capsys) == "The run failed: no score"
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
    def test_says_that_a_disk_is_full(self, number, good, tmp_path, capsys, monkeypatch):
        def full(path):
            raise OSError(number, "No space left")

        with monkeypatch.context() as context:
            context.setattr("goodgain.pipeline.results.sinks.create", full)
            assert run(tmp_path / "out", [good]) == ExitCode.FAILED
        message = error_message(capsys)
        assert message.startswith("The run failed: a disk is full (")
        assert "; free space where the outputs are written" in message
        assert not (tmp_path / "out").exists()

    def expected(self, tmp_path):
        assert run(tmp_path / "expected", [SAMPLE]) == ExitCode.DONE
        return rows(tmp_path / "expected", "conversations")

    @pytest.mark.parametrize(
        "moment",
        [
            "goodgain.pipeline.results.means.mean_key",
            "goodgain.pipeline.run.hosts.finish.publish",
        ],
    )
    def test_killed_run_looks_unfinished(self, moment, tmp_path):
        done = in_process(run_until, moment, tmp_path / "out")
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert "manifest.json" not in names_in(tmp_path / "out")
        self.assert_unfinished_and_repaired(tmp_path / "out")

    def test_publishes_nothing_if_counts_do_not_add_up(self, tmp_path, capsys, monkeypatch):
        """As if an engine had processed a bundle twice."""
        counts_of_score = goodgain.pipeline.run.hosts.graph.counts_of_score
        with monkeypatch.context() as context:
            context.setattr(
                goodgain.pipeline.run.hosts.graph,
                "counts_of_score",
                lambda score: {**counts_of_score(score), "records.redelivered": 1},
            )
            assert run(tmp_path / "out", [SAMPLE]) == ExitCode.FAILED
        message = error_message(capsys)
        assert "269 records were read but" in message
        assert "nothing was published" in message
        assert not (tmp_path / "out").exists()


class TestOverwrite:
    def test_replaces_all_outputs_of_an_earlier_run(self, good, tmp_path, few):
        first = ("--per-call", "--write-duplicates", "--format=avro", "--shards=3")
        assert run(tmp_path / "out", [few], *first) == ExitCode.DONE
        assert run(tmp_path / "out", [good], "--overwrite") == ExitCode.DONE
        assert run(tmp_path / "fresh", [good]) == ExitCode.DONE
        assert contents(tmp_path / "out") == contents(tmp_path / "fresh")
        assert names_in(tmp_path / "out") == names_in(tmp_path / "fresh")


class TestRejected:
    BAD = (
        {"conversation_id": "flagged", "iteration": 0},
        {"conversation_id": "only bad", "iteration": 1, "results": [{"gain": 7}]},
        {"conversation_id": "only bad", "iteration": "x"},
        {"conversation_id": "", "iteration": 1},
        {"iteration": 1},
    )

    @pytest.fixture
    def traces(self, tmp_path):
        good = [call(f"c{number}") for number in range(5)]
        return write_jsonl(tmp_path / "in.jsonl", [*good, call("flagged"), *self.BAD])

    def test_rejected_records_flag_their_conversation(self, traces, tmp_path):
        assert run(tmp_path / "out", [traces], "--max-rejected=5") == ExitCode.DONE
        by_id = {row["conversation_id"]: row for row in rows(tmp_path / "out", "conversations")}
        assert sorted(by_id) == ["c0", "c1", "c2", "c3", "c4", "flagged", "only bad"]
        assert by_id["flagged"]["rejected_records"] == 1
        assert (by_id["flagged"]["N"], by_id["flagged"]["CG"]) == (1, 3)
        only_bad = by_id["only bad"]
        assert only_bad["rejected_records"] == 2
        assert (only_bad["N"], only_bad["turn"], only_bad["CG"]) == (0, None, None)
        assert only_bad["attributes"] == {}

        found = manifest(tmp_path / "out")
        assert found["conversations"] == {
            "total": 7,
            "in_means": 5,
            "without_search": 0,
            "with_rejected_records": 2,
        }
        assert found["records"]["read"] == 11
        assert found["records"]["scored"] == 6
        assert found["records"]["rejected"] == 5
        (mean,) = (
            row
            for row in rows(tmp_path / "out", "means")
            if row["metric"] == "CG" and row["i"] is None
        )
        assert mean["n"] == 5

    def test_rejected_records_are_written_in_the_order_of_the_file(self, tmp_path):
        lines = [call(f"c{number}", iteration=number % 2) for number in range(120)]
        path = write_jsonl(tmp_path / "in.jsonl", lines)
        assert run(tmp_path / "out", [path], "--max-rejected=50%") == ExitCode.DONE
        found = rows(tmp_path / "out", "rejected")
        assert [row["position"] for row in found] == [f"line {line}" for line in range(1, 121, 2)]
        assert {row["source"] for row in found} == {path}
        assert {row["field"] for row in found} == {"iteration"}
        assert [json.loads(row["payload"]) for row in found] == lines[::2]

    @pytest.mark.parametrize(("limit", "code"), [("5", 0), ("4", 3), ("46%", 0), ("45%", 3)])
    def test_too_many_rejected_records_give_exit_code_3_and_all_outputs(
        self, limit, code, traces, tmp_path, capsys
    ):
        assert run(tmp_path / "out", [traces], f"--max-rejected={limit}") == code
        assert manifest(tmp_path / "out")["records"]["too_many_rejected"] is (code == 3)
        assert len(rows(tmp_path / "out", "rejected")) == 5
        assert len(rows(tmp_path / "out", "conversations")) == 7
        assert ("exit code is 3" in capsys.readouterr().out) is (code == 3)

    def test_text_with_a_lone_surrogate_is_rejected(self, tmp_path):
        """The records contain NaN, too, so that only the lenient JSON reader accepts them."""
        path = tmp_path / "in.jsonl"
        path.write_text(
            '{"conversation_id": "\\ud800", "iteration": NaN}\n'
            '{"conversation_id": "c", "iteration": 1, "attributes": {"\\udc00": NaN}}\n'
        )
        assert run(tmp_path / "out", [path], "--max-rejected=2") == ExitCode.DONE
        found = rows(tmp_path / "out", "rejected")
        assert [row["conversation_id"] for row in found] == [None, "c"]
        assert [row["field"] for row in found] == ["conversation_id", "attributes.\\udc00"]
        assert found[1]["reason"] == (
            "attributes.\\udc00 has half of a surrogate pair, which is not text."
        )

    def test_a_file_name_that_is_not_utf_8_is_escaped(self, tmp_path):
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "\udcff.jsonl").write_text("bad\n")
        assert run(tmp_path / "out", [tmp_path / "in"], "--max-rejected=1") == ExitCode.DONE
        (row,) = rows(tmp_path / "out", "rejected")
        assert row["source"].endswith("\\udcff.jsonl")


class TestManifest:
    def test_counts_and_parameters_are_those_of_the_run(self, tmp_path):
        options = ("--slice", "arm", "--max-i=3", "--shards=2", "--write-duplicates")
        assert run(tmp_path / "out", [SAMPLE], *options) == ExitCode.DONE
        found = manifest(tmp_path / "out")
        records = found["records"]
        outcomes = ("scored", "earlier_turn", "redelivered", "rejected", "late")
        assert records["read"] == sum(records[name] for name in outcomes) == 269
        assert records["balance_holds"] is True
        conversations = rows(tmp_path / "out", "conversations")
        results, duplicates = found["results"], rows(tmp_path / "out", "duplicates")
        for name, column in (("total", "R"), ("unique", "UR"), ("good", "GR")):
            assert results[name] == sum(row[column] for row in conversations)
        assert results["duplicates"] == len(duplicates)
        assert sum(results["duplicates_by_step"].values()) == len(duplicates)
        assert sum(results["results_by_type"].values()) == results["total"]
        assert found["datasets"]["duplicates"] == len(duplicates)
        assert found["inputs"] == [{"path": SAMPLE, "size": Path(SAMPLE).stat().st_size}]
        assert found["parameters"]["slice"] == [["arm"]]
        assert found["parameters"]["max_i"] == 3
        assert found["engine"] == "FnApiRunner"
        assert found["started"] < found["finished"]
        assert {"goodgain", "python", "apache-beam"} <= found["versions"].keys()

    @pytest.mark.parametrize("content", ["", "\n\n"])
    def test_an_empty_run_has_every_count(self, content, tmp_path, capsys):
        (tmp_path / "empty.jsonl").write_text(content)
        assert run(tmp_path / "out", [tmp_path / "empty.jsonl"]) == ExitCode.DATA_QUALITY
        found = manifest(tmp_path / "out")
        assert found["records"]["read"] == 0
        assert set(found["conversations"].values()) == {0}
        assert found["results"]["total"] == 0
        assert "no means, since there is no conversation." in capsys.readouterr().out

    def test_balance_fails_if_any_count_is_off_by_one(self):
        counts = {"records.read": 6, "records.scored": 1, "records.earlier_turn": 2}
        counts |= {"records.redelivered": 1, "records.rejected": 1, "records.late": 1}
        assert records_in(counts)["read"] == 6
        check_records(records_in(counts))
        for name in counts:
            with pytest.raises(BalanceError, match="accounted for"):
                check_records(records_in({**counts, name: counts[name] + 1}))


def test_a_failed_run_keeps_earlier_outputs(tmp_path, few):
    output = tmp_path / "out"
    assert run(output, [few]) == 0
    before = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("c 0 a 2\nc 0 a 1\n")
    assert run(output, [few], "--overwrite", "--qrels", str(qrels)) == 2
    after = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    assert after == before


def test_a_quiet_run_reports_problems(tmp_path, capsys):
    (tmp_path / "t.jsonl").write_text("bad\n")
    assert run(tmp_path / "out", [tmp_path / "t.jsonl"], "--quiet") == ExitCode.DATA_QUALITY
    assert "more than --max-rejected 1%, so the exit code is 3" in capsys.readouterr().out
