import json
import math
from importlib.resources import files
from random import Random

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.inputs.local_files import find_local_files, read_files
from goodgain.pipeline.studies.explanation.explain import explain_turn
from goodgain.pipeline.studies.explanation.records import gather
from goodgain.transforms.core.config_text import load_rules
from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.scoring.settings import Scoring
from tests.adversarial import trace
from tests.reference import evaluate

SAMPLE = str(files("goodgain.configs").joinpath("data/sample.avro"))
SCORING = Scoring(compile_rules(load_rules(None)))
WORKED = [["3", "2"], ["4", "1", "3"], ["2b", "2", "4"]]  # SPEC 5: ids that begin with the gain
LONG = "a text of more than fifty characters, so that it can propose candidates"


def call(iteration, results=(), **more):
    return {"conversation_id": "c1", "iteration": iteration, "results": list(results), **more}


def worked_example():
    return [
        call(
            iteration,
            [
                {
                    "entity_type": "File",
                    "title": f"document {file_id}",
                    "gain": int(file_id[0]),
                    "ids": {"file_id": file_id},
                }
                for file_id in file_ids
            ],
        )
        for iteration, file_ids in enumerate(WORKED, start=1)
    ]


def explain(records, conversation_id="c1"):
    return explain_calls(conversation_id, [parse_mapping(record) for record in records])


def explain_calls(conversation_id, calls):
    budget = MemoryBudget(None)
    gathered = gather(conversation_id, iter(calls), budget)
    return explain_turn(gathered, SCORING, budget).explanation


def reasons(*results, apart=False):
    """Why each result is a duplicate, or None; all are in one call, or `apart` in one call each."""
    records = (
        [call(1, results)]
        if not apart
        else [call(1, [result], call=n) for n, result in enumerate(results)]
    )
    (iteration,) = explain(records).iterations
    return [
        result.duplicate.reason if result.duplicate else None
        for call in iteration.calls
        for result in call.results
    ]


class TestNumbers:
    def test_worked_example(self):
        explanation = explain(worked_example())
        row = explanation.row
        assert [iteration.row.G_i for iteration in explanation.iterations] == [5, 4, 2]
        assert [iteration.row.R_i for iteration in explanation.iterations] == [2, 3, 3]
        assert (row.CG, row.SRE, row.SRR) == (11, 0.5, 0.375)
        assert math.isclose(row.DCG, 8.5237, rel_tol=1e-4)
        assert math.isclose(row.DRAG, 1.2249, rel_tol=1e-4)
        assert row.iterations_for_all_good_results == 3

    @pytest.mark.parametrize("seed", range(15))
    def test_numbers_agree_with_the_reference(self, seed):
        records = trace(Random(seed), 3)
        reference = evaluate(records)
        for conversation_id, expected in reference["conversations"].items():
            own = [record for record in records if record["conversation_id"] == conversation_id]
            explanation = explain(own, conversation_id)
            assert_agrees(explanation, expected, reference)

    def test_outcomes_agree_with_counts_in_the_shipped_sample(self):
        calls = [
            record
            for record in read_files(find_local_files([SAMPLE]))
            if record.conversation_id == "1fb92a63-e461-01ed-471d-29a263f69c29"
        ]
        explanation = explain_calls(calls[0].conversation_id, calls)
        assert explanation.row.N == len(explanation.iterations) == 4
        counted = [
            sum(
                result.outcome == outcome
                for iteration in explanation.iterations
                for found in iteration.calls
                for result in found.results
            )
            for outcome in ("good", "other", "duplicate")
        ]
        row = explanation.row
        assert counted == [row.GR, row.UR - row.GR, row.DupR]


def assert_agrees(explanation, expected, reference):
    row = explanation.row
    for name in ("N", "calls", "R", "UR", "GR", "DupR", "CG", "label_conflicts", "redelivered"):
        assert getattr(row, name) == expected[name], name
    for name in ("DCG", "RAG", "DRAG", "SRE", "SRR"):
        ours, theirs = getattr(row, name), expected[name]
        assert ours == theirs or math.isclose(ours, theirs, rel_tol=1e-9), name
    assert sum(turn.calls for turn in explanation.earlier_turns) == expected["earlier_turn"]
    assert explanation.conflicting_redeliveries == expected["conflicting_redeliveries"]
    decided = {
        (d["i"], d["call_position"], d["rank"]): (
            (d["first_i"], d["first_call_position"], d["first_rank"]),
            (d["key"], d["step"], d["clause"]),
        )
        for d in reference["duplicates"]
        if d["conversation_id"] == row.conversation_id
    }
    ours = {}
    for iteration in explanation.iterations:
        for call in iteration.calls:
            for result in call.results:
                why = result.duplicate
                if why is not None:
                    place = (iteration.row.i, call.call_position, result.rank)
                    first = (why.first.i, why.first.call_position, why.first.rank)
                    ours[place] = (first, (why.key, why.step, why.clause))
                    matched = (why.matched.i, why.matched.call_position, why.matched.rank)
                    assert matched == first or ours[matched][0] == first
                    assert matched < place
                    assert why.reason
    assert ours == decided


class TestReasons:
    def test_ids_are_named(self):
        file = {"entity_type": "File", "ids": {"file_id": "1", "site_id": "s"}}
        assert reasons(file, file) == [None, "same ids.file_id, definitive for File"]

    @pytest.mark.parametrize(
        ("one", "other", "expected"),
        [
            ("https://a.b/c", "https://a.b/c", "same URL"),
            ("https://a.b/c", "http://www.a.b/c/#d", "URLs equal but for how they are written"),
            (
                "https://a.b/c?d=1&utm_source=x&gclid=1",
                "https://a.b/c?d=1",
                "URLs equal but for gclid, utm_source",
            ),
            (
                "https://s.sharepoint.com/c?web=1",
                "https://s.sharepoint.com/c",
                "URLs equal but for web",
            ),
            (
                "https://arxiv.org/abs/2401.00001",
                "https://arxiv.org/pdf/2401.00001v2",
                "URLs that are two forms of one: arxiv.org/abs/2401.00001",
            ),
        ],
    )
    def test_urls_of_one_document_say_in_what_they_differ(self, one, other, expected):
        assert reasons({"url": one}, {"url": other}) == [None, expected]

    def test_urls_that_differ_only_in_their_query(self):
        one, other = ({"url": f"https://a.b/c?x={x}", "snippet": LONG} for x in "12")
        expected = "URLs differ only in their query, same snippet"
        assert reasons(one, other) == [None, expected]

    def test_line_of_a_type_names_the_equal_fields(self):
        file = {
            "entity_type": "File",
            "fields": {"file_name": "a", "author": "b", "file_type": "c"},
        }
        expected = (
            "File line 2 (file_name and 2 of title, author, file_type, last_modified_by, "
            "last_modified_time): same file_name, author, file_type"
        )
        assert reasons(file, file | {"snippet": "only here"}) == [None, expected]

    def test_line_of_a_type_names_the_equal_id(self):
        event = {
            "entity_type": "Event",
            "ids": {"original_id": "o"},
            "fields": {"start": "2025-01-01", "end": "2025-01-02"},
        }
        expected = (
            "Event line 1 (start and end and ids.original_id): same start, end, ids.original_id"
        )
        assert reasons(event, event | {"title": "only here"}) == [None, expected]

    def test_points_name_the_equal_fields(self):
        one = {"title": "a title", "fields": {"file_name": "f", "colour": "red"}}
        expected = "5 points for equal fields (title 2, file_name 2, colour 1), 4 needed"
        assert reasons(one, one | {"snippet": "only here"}) == [None, expected]

    def test_points_with_id_context(self):
        one = {"title": "a title", "id": "7"}
        expected = "2 points for equal fields (title 2), 2 needed as ids agree"
        assert reasons(one, one | {"snippet": "only here"}) == [None, expected]

    def test_generic_id(self):
        expected = "same generic id, and no attribute conflicts"
        assert reasons({"id": "7"}, {"id": "7", "title": "only here"}) == [None, expected]

    def test_id_that_no_rule_names(self):
        one = {"ids": {"chunk_id": "7"}}
        expected = "same ids.chunk_id, and no attribute conflicts"
        assert reasons(one, one | {"title": "only here"}) == [None, expected]

    def test_identical_results(self):
        one = {"entity_type": "People", "fields": {"display_name": "a", "department": "b"}}
        assert reasons(one, one) == [None, "all evidence is the same"]

    def test_names_the_copy_that_links_two_results(self):
        first = {"ids": {"doc_id": "1"}}
        link = {"ids": {"doc_id": "1"}, "url": "https://a.b/c"}
        last = {"url": "https://a.b/c"}
        (iteration,) = explain([call(4, [first, link, last])]).iterations
        why = iteration.calls[0].results[2].duplicate
        assert (why.first.rank, why.matched.rank, why.first.iteration) == (1, 2, 4)
        assert why.reason == "same URL"

    def test_shows_the_label_of_the_first_occurrence(self):
        results = [{"id": "1", "gain": 3}, {"id": "1", "gain": 0}, {"id": "1", "gain": None}]
        (iteration,) = explain([call(1, results)]).iterations
        whys = [result.duplicate for result in iteration.calls[0].results[1:]]
        assert [(why.first_gain, why.label_conflict) for why in whys] == [(3, True), (3, False)]

    def test_the_first_call_has_the_first_occurrence(self):
        assert reasons({"id": "1"}, {"id": "1"}, apart=True)[0] is None


class TestConversations:
    def test_no_search_in_the_last_turn(self):
        explanation = explain([call(1, [{"gain": 3}], turn_count=2)])
        assert (explanation.row.N, explanation.row.turn, explanation.row.CG) == (0, 2, None)
        assert explanation.iterations == []
        assert explanation.earlier_turns[0].calls == 1

    def test_iterations_are_renumbered_and_empty_calls_count(self):
        explanation = explain([call(7), call(2, [{"gain": 2}])])
        assert [
            (iteration.row.i, iteration.row.iteration) for iteration in explanation.iterations
        ] == [
            (1, 2),
            (2, 7),
        ]

    def test_unknown_conversation_is_answered_with_the_nearest_ids(self, traces, capsys):
        path = traces(*({**call(1), "conversation_id": f"user-{n}/x"} for n in (17, 18, 999)))
        assert main(["explain", "user-17/y", "--input", path]) == 2
        err = capsys.readouterr().err
        assert "no conversation user-17/y" in err
        assert "nearest are user-17/x, user-18/x" in err
        assert main(["explain", "user-9", "--input", path]) == 2
        assert "nearest is user-999/x." in capsys.readouterr().err

    def test_an_unknown_id_that_is_like_no_other_gets_no_arbitrary_suggestions(
        self, traces, capsys
    ):
        path = traces(*({**call(1), "conversation_id": f"user-{n}/x"} for n in (17, 18)))
        assert main(["explain", "zzz", "--input", path]) == 2
        err = " ".join(capsys.readouterr().err.split())
        assert "none with a similar id; the first is user-17/x. A run lists all" in err

    def test_files_without_records(self, traces, capsys):
        assert main(["explain", "c1", "--input", traces("no json")]) == 2
        assert "the files contain none at all" in capsys.readouterr().err

    def test_conversation_with_only_rejected_records(self, traces, capsys):
        assert main(["explain", "c1", "--input", traces(call(0))]) == 0
        out = capsys.readouterr().out
        assert "none of its records can be used" in out
        assert "iteration must be a whole number" in out


class TestCommand:
    def test_piped_lines_are_not_padded(self, traces, capsys):
        assert main(["explain", "c1", "--input", traces(*worked_example())]) == 0
        assert max(map(len, capsys.readouterr().out.splitlines())) < 1_000

    def test_json_has_all_numbers_and_evidence(self, traces, capsys):
        path = traces(*worked_example(), call(0), "no json", {**call(1), "conversation_id": "c2"})
        assert main(["explain", "c1", "--input", path, "--json"]) == 0
        output = json.loads(capsys.readouterr().out)
        conversation = output["conversation"]
        assert (conversation["CG"], conversation["rejected_records"]) == (11, 1)
        assert "ndcg@10" in conversation
        assert [iteration["CG_at_i"] for iteration in output["iterations"]] == [5, 9, 11]
        assert output["unreadable"] == 1
        assert output["rejected"][0]["position"] == "line 4"
        duplicate = output["iterations"][1]["search_calls"][0]["results"][2]
        assert duplicate["outcome"] == "duplicate"
        assert duplicate["duplicate"]["first"] == {
            "i": 1,
            "iteration": 1,
            "call_position": 0,
            "rank": 1,
        }
        assert duplicate["duplicate"]["step"] == "ids"

    def test_applies_the_good_gain_threshold(self, traces, capsys):
        words = ["explain", "c1", "--input", traces(*worked_example()), "--json"]
        main([*words, "--good-gain-threshold", "4"])
        output = json.loads(capsys.readouterr().out)
        assert (output["conversation"]["CG"], output["conversation"]["GR"]) == (4, 1)

    def test_applies_custom_rules(self, traces, tmp_path, capsys):
        rules = tmp_path / "rules.yaml"
        rules.write_text("types:\n  default: {}\n")
        words = ["explain", "c1", "--input", traces(*worked_example()), "--json"]
        main([*words, "--rules", str(rules)])
        steps = {
            result["duplicate"]["step"]
            for iteration in json.loads(capsys.readouterr().out)["iterations"]
            for call in iteration["search_calls"]
            for result in call["results"]
            if result["duplicate"]
        }
        assert steps == {"named_id"}

    def test_text_shows_results_and_reasons_in_80_columns(self, traces, capsys, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        records = worked_example()
        records[0] |= {"query": "where is it", "tool": "files", "record_id": "r", "timestamp": 0}
        path = traces(*records, records[0])
        assert main(["explain", "c1", "--input", path]) == 0
        captured = capsys.readouterr()
        lines = captured.out.splitlines()
        assert captured.err == ""
        assert max(map(len, lines)) <= 80
        output = " ".join(captured.out.split())
        for expected in (
            "Conversation c1",
            "N = 3 iterations, 3 search calls, 8 results",
            "delivered again 1 record",
            'Call 1.1 files "where is it" 1970-01-01T00:00:00.000Z',
            "1 3 File new, good document 3",
            "3 3 File copy of 1.1.1 document 3 same ids.file_id, definitive for File",
            "here 3 results (R), 1 new (UR), 1 of them good (GR), 2 repeated (Dup), 0 unlabelled",
            "so far 8 results (R), 5 distinct (UR), 4 of them good (GR), 3 repeated (DupR)",
            "discounted 8.524 (DCG)",
            "good and new 50.0 % (SRE), repeated 37.5 % (SRR)",
            "Iterations for all good results 3 iterations",
            "Good and new results (SRE) 50.0 %",
            "Precision (precision@5) 0.800 share",
        ):
            assert expected in output

    def test_options_may_stand_in_the_file_of_a_run(self, traces, tmp_path, capsys):
        config = tmp_path / "run.yaml"
        path = traces(*worked_example())
        config.write_text(f"input: {path}\noutput: out\nslice: market\nmetrics: [recall@3]\n")
        assert main(["explain", "c1", "--config", str(config)]) == 0
        out = capsys.readouterr().out
        assert "Recall (recall@3)" in out
        assert "recall@10" not in out
        config.write_text(f"input: {path}\nmetricz: [recall@3]\n")
        assert main(["explain", "c1", "--config", str(config)]) == 2
        assert f"{config}:2: metricz is not an option; did you mean metrics?" in (
            capsys.readouterr().err
        )

    def test_control_characters_in_traces_are_escaped(self, traces, capsys):
        evil = "[red]\x1b[2J\u202e"
        result = {"title": evil, "entity_type": evil, "ids": {evil: "1"}, "fields": {evil: "1"}}
        record = call(1, [result, result], query=evil, tool=evil, attributes={evil: evil})
        path = traces(record | {"conversation_id": evil}, {"conversation_id": evil})
        assert main(["explain", evil, "--input", path]) == 0
        out = capsys.readouterr().out
        assert out.replace("\n", "").isprintable()
        assert "Conversation [red]\\x1b[2J\\u202e" in out
