"""`goodgain validate`: files, counts, names without a rule, and rejected records."""

import gzip
from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.studies.validation import survey
from goodgain.pipeline.studies.validation.survey import Rejections, generalise_reason
from goodgain.transforms.core.dedup.identity_text import describe_identity
from goodgain.transforms.core.records.rejection import RejectedRecord
from tests.core.direct import shipped_rules
from tests.pipeline.runs import SAMPLE, SESSIONS, call


class TestCounts:
    def test_shipped_trec_sessions(self, validate):
        code, report = validate(SESSIONS)
        assert code == 0
        assert report["records"]["read"] == report["records"]["usable"] == 401
        assert (report["conversations"], report["results"]) == (133, 4449)
        assert sum(report["labels"].values()) == 4449
        assert report["rejected_by_reason"] == []

    def test_shipped_sample(self, validate):
        code, report = validate(SAMPLE)
        assert code == 0
        assert report["records"]["rejected"] == 2
        assert report["max_rejected"] == "1%"
        assert {found["rules"] for found in report["entity_types"] if found["name"] == "Email"} == {
            "EmailMessage"
        }
        assert [attribute["name"] for attribute in report["attributes"]] == [
            "arm",
            "market",
            "model",
        ]
        assert report["warnings"] == []

    def test_counts_in_a_small_file(self, traces, validate):
        path = traces(
            call("c1", 1, [{"gain": 3, "score": 0.5}, {"gain": 0}, {}], record_id="r", timestamp=0),
            call("c1", 1, [], record_id="r", timestamp=1000),
            call("c1", 2, [{"gain": 3}], turn=2, call=0),
            call("c1", 2, [{"gain": 3}], turn=2, call=0),
            call("c2", 5, [], attributes={"market": "de", "blank": " "}),
            call("c2", 5, [], attributes={"market": "de", "blank": " "}),
            call("c2", 5, [], attributes={"market": "fr", "blank": " "}),
        )
        _, report = validate(path)
        assert report["records"] == {
            "read": 7,
            "usable": 7,
            "rejected": 0,
            "unknown_losses": 0,
            "redelivered": 3,
            "conflicting_redeliveries": 1,
            "without_results": 2,
            "with_timestamp": 2,
        }
        counted = [report[name] for name in ("conversations", "turns", "iterations", "results")]
        assert counted == [2, 3, 3, 4]
        assert report["results_with_score"] == 1
        assert (report["first_timestamp"], report["last_timestamp"]) == (0, 1000)
        assert report["labels"] == {"0": 1, "1": 0, "2": 0, "3": 2, "4": 0, "unlabelled": 1}
        assert report["attributes"] == [
            {"name": "market", "records": 3, "values": ["de", "fr"]},
            {"name": "blank", "records": 3, "values": []},
        ]
        assert any("5 records have no timestamp" in note for note in report["notes"])

    def test_times_counted_in_several_parts_are_as_in_one(self, traces, validate, monkeypatch):
        path = traces(*(call(record_id=f"r{time}", timestamp=time) for time in (5, 9, 1, 4, 7)))
        _, whole = validate(path)
        monkeypatch.setattr(survey, "_TIMES_AT_ONCE", 2)
        _, report = validate(path)
        assert report == whole
        assert (report["first_timestamp"], report["last_timestamp"]) == (1, 9)
        assert report["records"]["with_timestamp"] == 5

    def test_counts_across_files(self, traces, validate, tmp_path):
        traces(call(record_id="r"), name="a.jsonl")
        packed = tmp_path / "b.jsonl.gz"
        packed.write_bytes(gzip.compress(Path(traces(call(record_id="r"))).read_bytes()))
        (tmp_path / "traces.jsonl").unlink()
        _, report = validate(f"{tmp_path}/*")
        assert len(report["files"]) == 2
        assert (report["conversations"], report["records"]["redelivered"]) == (1, 1)

    @pytest.mark.parametrize(
        ("records", "expected"),
        [
            ([], "empty_input"),
            ([call(results=[{"id": "1"}])], "no_labels"),
            ([call(results=[{"id": "1", "gain": 1}])], "labels_below_threshold"),
            ([call(results=[{"gain": 3}])], "no_identity"),
            ([call(results=[{"id": "1", "gain": 3, "colour": 1}])], "unknown_fields"),
            ([call(results=[])], "no_results"),
            ([call(timestamp=1_700_000_000, results=[{"id": "1", "gain": 3}])], "odd_times"),
            (
                [call(call=0, results=[{"id": name, "gain": 3}]) for name in "123"],
                "conflicting_redeliveries",
            ),
        ],
    )
    def test_gives_the_warnings_of_a_run(self, records, expected, traces, validate):
        _, report = validate(traces(*records))
        assert [warning["code"] for warning in report["warnings"]] == [expected]
        assert "--input" not in str(report["warnings"])  # validate takes files without it

    @pytest.mark.parametrize(
        ("records", "fails"),
        [
            ([], True),
            ([call(results=[{"id": "1"}])], True),
            ([call(timestamp=1, results=[{"id": "1", "gain": 3}])], False),
        ],
    )
    def test_warnings_that_fail_a_run_name_its_exit_code(self, records, fails, traces, capsys):
        assert main(["validate", traces(*records)]) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert "Warning (" in printed
        assert ("A run exits with code 3." in printed) is fails

    @pytest.mark.parametrize(
        ("third", "note"),
        [("b", "2  66.7 %, 1 with other content"), ("a", "2  66.7 %")],
    )
    def test_says_whether_records_delivered_again_differ(self, third, note, traces, capsys):
        # The latest counts, so that of these only the third can have other content.
        names = {"a": 1_700_000_000_001, "b": 1_700_000_000_000}
        calls = [
            call(call=0, timestamp=names[name], results=[{"id": name, "gain": 3}])
            for name in ("a", "a", third)
        ]
        assert main(["validate", traces(*calls)]) == 0
        printed = capsys.readouterr().out
        (line,) = (line for line in printed.splitlines() if "delivered again" in line)
        assert " ".join(line.split()) == " ".join(f"delivered again {note}".split())
        (line,) = (line for line in printed.splitlines() if line.startswith("results "))
        assert line.split() == ["results", "1", "each", "record", "counts", "once"]

    def test_maps_fields_with_other_names(self, traces, validate):
        path = traces({"session": "c", "iteration": 0, "results": [{"id": "1", "relevance": "3"}]})
        words = ["--map", "gain=relevance,conversation_id=session", "--iteration-base", "0"]
        code, report = validate(path, *words)
        assert (code, report["warnings"], report["labels"]["3"]) == (0, [], 1)
        code, report = validate(path)
        assert (code, report["records"]["rejected"]) == (3, 1)

    def test_ten_lines_explain_when_results_are_the_same_document(self, traces, capsys):
        main(["validate", traces(call())])
        printed = capsys.readouterr().out
        assert "What makes two results the same document" in printed
        assert "a snippet or content below 50 characters alone is not enough" in printed
        assert "Without a known type: doc_id" in printed
        lines = describe_identity(shipped_rules())
        assert len(lines) == 10
        assert all(name in " ".join(lines) for name in ("file_id", "artifact_id", "site_id"))


class TestRejected:
    BAD = (
        "no json",
        call(iteration=0),
        call(results=[{"gain": 7}]),
        call(results=[{}, {"gain": 9}]),
    )

    def test_groups_by_reason_with_examples(self, traces, validate):
        path = traces(*self.BAD, call())
        code, report = validate(path)
        assert code == 3
        assert report["too_many_rejected"] is True
        assert report["conversations_with_rejected_records"] == 1
        assert report["conversations"] == 1
        assert validate(traces(*self.BAD))[1]["conversations"] == 1
        found = {reason["reason"]: reason for reason in report["rejected_by_reason"]}
        gains = found["results[].gain must be a whole number from 0 to 4"]
        assert gains["records"] == 2
        assert [example["position"] for example in gains["examples"]] == ["line 3", "line 4"]
        assert gains["examples"][0]["source"] == path
        assert found["Not valid JSON"]["records"] == 1
        assert sum(part["records"] for part in found.values()) == 4

    @pytest.mark.parametrize(("limit", "code"), [("4", 0), ("80%", 0), ("3", 3), ("79%", 3)])
    def test_the_limit_decides_the_exit_code(self, limit, code, traces, validate):
        assert validate(traces(*self.BAD, call()), "--max-rejected", limit)[0] == code

    def test_reports_an_invalid_limit(self, capsys):
        assert main(["validate", SAMPLE, "--max-rejected", "some"]) == 2
        assert "must be a count like 5 or a share like 2%" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("option", "value", "message"),
        [
            ("--max-held-bytes", "0", "must be at least 1, not '0'"),
            ("--max-held-bytes", "-1", "must be at least 1, not '-1'"),
            ("--good-gain-threshold", "0", "must be at least 1, not '0'"),
            ("--good-gain-threshold", "5", "must be at most 4, not '5'"),
        ],
    )
    def test_rejects_numbers_that_a_run_rejects(self, option, value, message, tmp_path, capsys):
        assert main(["validate", SAMPLE, option, value]) == 2
        assert f"{option} {message}" in capsys.readouterr().err
        assert main(["run", "--input", SAMPLE, "--output", str(tmp_path), option, value]) == 2

    def test_limits_the_number_of_reasons_and_examples(self):
        rejections = Rejections()
        for number in range(500):
            for _ in range(5):
                rejections.add(RejectedRecord("f", "line 1", f"reason {number}.", records=2))
        kinds = rejections.by_frequency()
        assert len(kinds) == 101
        assert max(len(kind.examples) for kind in kinds) == 3
        assert sum(kind.records for kind in kinds) == 5000

    @pytest.mark.parametrize(
        ("reason", "general"),
        [
            ("turn must be positive, got 0.", "turn must be positive"),
            ("results[12].ids.x must be text, got 3.", "results[].ids.x must be text"),
            ("Not valid JSON: bad (byte 4).", "Not valid JSON"),
            ("The footer is damaged (x [1]).", "The footer is damaged"),
            ("conversation_id is missing.", "conversation_id is missing"),
        ],
    )
    def test_general_reason_omits_places_and_values(self, reason, general):
        assert generalise_reason(reason) == general


class TestTables:
    def test_fit_80_columns_without_colours(self, capsys, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        assert main(["validate", SAMPLE]) == 0
        captured = capsys.readouterr()
        assert max(map(len, captured.out.splitlines())) <= 80
        assert "\x1b" not in captured.out
        assert captured.err == ""
        assert "2 of 269 records are rejected; --max-rejected 1% allows that." in captured.out

    def test_control_characters_in_traces_are_escaped(self, traces, capsys):
        evil = "[red]\x1b[2J\u202e"
        result = {"entity_type": evil, "ids": {evil: "1"}, "fields": {evil: "2"}}
        bad = call(iteration=evil)
        main(["validate", traces(call(results=[result], attributes={evil: evil}), bad)])
        out = capsys.readouterr().out
        assert out.replace("\n", "").isprintable()
        assert "[red]\\x1b[2J\\u202e" in out
