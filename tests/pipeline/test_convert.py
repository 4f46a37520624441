"""TREC files in and out: the numbers are trec_eval's, the order survives, mistakes have a line."""

import gzip
import json
import subprocess
import sys
from collections import Counter
from importlib.resources import files

import fastavro
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.__main__ import main
from pipeline.convert.names import document_names, word
from pipeline.convert.to_traces import Iterations, TraceCounts, compiled, ranked, trace_records
from pipeline.convert.to_trec import write_trec
from pipeline.convert.trec_files import RunLine, TrecFile
from pipeline.local import local_files
from pipeline.outputs.folder import read_dataset, read_manifest
from pipeline.rules import load_rules
from tests.conformity import trec_tables
from transforms.core.decisions import Place
from transforms.core.errors import UsageError
from transforms.core.rules import compile_rules

SESSIONS = str(files("configs").joinpath("data/trec_session_2013.jsonl.gz"))
SAMPLE = str(files("configs").joinpath("data/sample.avro"))
RUN = str(trec_tables.DATA / "results.test")
RULES = compile_rules(load_rules(None))
# trec_eval's measure -> ours, where definitions agree
PEERS = {
    "map": "map",
    "ndcg": "ndcg",
    "recip_rank": "mrr",
    "Rprec": "r_precision",
    "bpref": "bpref",
    **{f"P_{k}": f"precision@{k}" for k in (5, 10, 100)},
    **{f"recall_{k}": f"recall@{k}" for k in (5, 10)},
    **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in (5, 10)},
    **{f"map_cut_{k}": f"map@{k}" for k in (5, 10)},
    **{f"success_{k}": f"hit_rate@{k}" for k in (1, 5, 10)},
}
# There ours is undefined when nothing relevant, or nothing with a gain, is judged; theirs is 0.
WITHOUT_RELEVANT_0 = {"map", "mrr", "r_precision", "bpref"}


def goodgain(*words):
    assert main([str(one) for one in words]) == 0


def goodgain_run(output, *words):
    """The rows of `conversations`, from a process of its own, as Beam wants it."""
    script = "import sys; from pipeline.__main__ import main; sys.exit(main())"
    subprocess.run(
        [sys.executable, "-c", script, "run", "--output", str(output), "--max-rejected", "5"]
        + [str(one) for one in words],
        capture_output=True,
        check=True,
    )
    return {row["conversation_id"]: row for row in read_dataset(str(output), "conversations")}


def records_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def lines_of(path):
    return [line.split() for line in path.read_text().splitlines()]


@pytest.mark.parametrize("table", trec_tables.TABLES)
def test_run_and_qrels_through_the_pipeline_give_the_tables_of_trec_eval(tmp_path, table):
    qrels, level = trec_tables.TABLES[table]
    traces = tmp_path / "traces.jsonl.gz"
    judged = trec_tables.DATA / qrels
    goodgain("convert", "--from-run", RUN, "--from-qrels", judged, "--to-traces", traces)
    rows = goodgain_run(
        tmp_path / "out",
        *("--input", traces, "--qrels", judged, "--good-gain-threshold", level),
        *("--format", "jsonl", "--metrics", ",".join(trec_tables.SAME.values())),
    )
    printed = trec_tables.expected(table)
    for topic, row in rows.items():
        ours = {theirs: f"{row[name]:.4f}" for theirs, name in trec_tables.SAME.items()}
        expected = {name: f"{float(printed[topic][name]):.4f}" for name in trec_tables.SAME}
        assert ours == expected
    assert rows.keys() == printed.keys() - {"all"}


@pytest.mark.parametrize("traces", [SESSIONS, SAMPLE], ids=["sessions", "sample"])
def test_our_metrics_are_those_of_trec_eval_on_the_converted_files(tmp_path, traces):
    run_path, qrels_path = tmp_path / "run.txt", tmp_path / "qrels.txt"
    goodgain(
        *("convert", "--from-traces", traces),
        *("--to-run", run_path, "--to-qrels", qrels_path, "--id", "doc_id"),
    )
    rows = goodgain_run(
        tmp_path / "out",
        *("--input", traces, "--format", "jsonl", "--metrics", ",".join(PEERS.values())),
    )
    run, qrels = {}, {}
    for topic, _, document, _, score, _ in lines_of(run_path):
        run.setdefault(topic, {})[document] = float(score)
    for topic, _, document, label in lines_of(qrels_path):
        qrels.setdefault(topic, {})[document] = int(label)
    measures = {"map", "ndcg", "recip_rank", "Rprec", "bpref", "P", "recall", "ndcg_cut"}
    measures |= {"map_cut", "success"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, measures, relevance_level=2).evaluate(run)
    assert len(theirs) > 50
    for topic, values in theirs.items():
        row = rows[topic]
        relevant = sum(label >= 2 for label in qrels[topic].values())
        for measure, name in PEERS.items():
            if row[name] is None:
                family = name.split("@")[0]
                needed = sum(qrels[topic].values()) if family == "ndcg" else relevant
                assert (needed, values[measure]) == (0, 0.0)
            else:
                assert values[measure] == pytest.approx(row[name], abs=1e-6), (topic, name)
    searched = {topic for topic, row in rows.items() if row["UR"]}
    assert run.keys() == searched


def test_judgments_of_the_traces_themselves_change_nothing(tmp_path):
    qrels = tmp_path / "qrels.txt"
    goodgain("convert", "--from-traces", SESSIONS, "--to-qrels", qrels)
    alone = goodgain_run(tmp_path / "alone", "--input", SESSIONS)
    outside = goodgain_run(tmp_path / "outside", "--input", SESSIONS, "--qrels", qrels)
    assert outside == alone
    manifest = read_manifest(str(tmp_path / "outside"))["qrels"]
    assert manifest.pop("files") == [{"path": str(qrels), "size": qrels.stat().st_size}]
    assert manifest == {
        "judgments": 3079,
        "unjudged": 0,
        "repeated": 0,
        "never_retrieved": 0,
        "results_without_id": 0,
        "records_without_topic": 0,
        "topics": 116,
        "topics_without_conversation": 0,
        "topics_without_judgments": 17,
        "results_without_judgment": 199,
    }


class TestRunToTraces:
    def test_ranks_as_trec_eval_does(self, tmp_path):
        traces = tmp_path / "traces.jsonl"
        goodgain("convert", "--from-run", RUN, "--to-traces", traces)
        found = {
            record["conversation_id"]: [result["ids"]["doc_id"] for result in record["results"]]
            for record in records_of(traces)
        }
        assert found == trec_tables.documents_by_rank()

    def test_scores_that_single_precision_holds_equal_are_tied(self):
        lines = [
            RunLine(1, "Q0", "a", 1.00000001, "t"),
            RunLine(2, "Q0", "b", 1.0, "t"),
            RunLine(3, "Q0", "z", 1e300, "t"),
        ]
        assert [line.document for line in ranked(lines)] == ["z", "b", "a"]
        theirs = pytrec_eval.RelevanceEvaluator({"q": {"b": 1}}, {"recip_rank"}).evaluate(
            {"q": {line.document: line.score for line in lines}}
        )
        assert theirs["q"]["recip_rank"] == 1 / 2

    def test_labels_scores_and_counts(self, tmp_path):
        run, qrels, traces = (tmp_path / name for name in ("run", "qrels", "traces.jsonl"))
        run.write_text("2 Q0 b 1 0.5 x\n1 Q0 a 1 -1e3 x\n\n2 Q0 c 2 0.25 x\n3 Q0 a 1 1 x\n")
        qrels.write_text("2 0 b 3\n2 0 c -1\n2 0 never 1\n1 0 z 0\n9 0 a 1\n1 0 z 0\n")
        counts = TraceCounts()
        records = list(trace_records(TrecFile(run), TrecFile(qrels), Iterations(), counts))
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
            for record in trace_records(TrecFile(run), None, Iterations(), TraceCounts())
        }
        straight = trace_records(TrecFile(RUN), None, Iterations(), TraceCounts())
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
        iterations = Iterations(field, compiled(pattern))
        records = list(trace_records(TrecFile(run), None, iterations, TraceCounts()))
        assert [record["iteration"] for record in records] == [2, 10]
        assert [len(record["results"]) for record in records] == [2, 1]

    def test_one_document_may_come_back_in_another_iteration(self, tmp_path):
        run, traces = tmp_path / "run", tmp_path / "traces.avro"
        run.write_text("s 1 a 1 2 m\ns 2 a 1 2 m\n")
        goodgain("convert", "--from-run", run, "--to-traces", traces, "--iteration-from", "q0")
        with traces.open("rb") as file:
            assert [record["iteration"] for record in fastavro.reader(file)] == [1, 2]


class TestTracesToTrec:
    @given(
        st.dictionaries(
            st.text("ab%é ", min_size=1).filter(str.strip),
            st.lists(st.text("xyz%ü 1", min_size=1, max_size=3).filter(str.strip), max_size=6),
            max_size=4,
        )
    )
    @settings(max_examples=50, deadline=None)
    def test_there_and_back_keeps_the_order(self, tmp_path_factory, lists):
        folder = tmp_path_factory.mktemp("back")
        traces, run, back = (folder / name for name in ("t.jsonl", "run", "back"))
        with traces.open("w") as file:
            for conversation, documents in lists.items():
                results = [{"ids": {"doc_id": one}, "gain": 1} for one in documents]
                record = {"conversation_id": conversation, "iteration": 1, "results": results}
                file.write(json.dumps(record) + "\n")
        write_trec(local_files([str(traces)]), RULES, "doc_id", "tag", str(run), None)
        expected = {
            word(conversation): list(dict.fromkeys(word(one.strip()) for one in documents))
            for conversation, documents in lists.items()
            if documents
        }
        found = {}
        for record in trace_records(TrecFile(str(run)), None, Iterations(), TraceCounts()):
            found[record["conversation_id"]] = [one["ids"]["doc_id"] for one in record["results"]]
        assert found == expected
        scores = {}
        for topic, _, _, _, score, _ in lines_of(run):
            scores.setdefault(topic, []).append(int(score))
        assert all(row == list(range(len(row), 0, -1)) for row in scores.values())
        assert not back.exists()

    def test_only_the_last_turn_of_what_counts_without_copies(self, tmp_path):
        records = [
            {"iteration": 1, "call": 0, "results": [doc("early", 4)]},
            {"turn": 2, "iteration": 3, "call": 0, "results": [doc("b", 1), doc("a", None)]},
            {"turn": 2, "iteration": 1, "call": 0, "results": [doc("b", 2), {"url": "http://x/"}]},
            {"turn": 2, "iteration": 1, "call": 0, "results": [doc("b", 2), {"url": "http://x/"}]},
        ]
        run, qrels, counts = converted(tmp_path, records)
        assert run == [
            ["c", "Q0", "b", "1", "3", "tag"],
            ["c", "Q0", "i1.call0.rank2", "2", "2", "tag"],
            ["c", "Q0", "a", "3", "1", "tag"],
        ]
        assert qrels == [["c", "0", "b", "2"]]
        assert (counts.documents, counts.judged, counts.named_by_position) == (3, 1, 1)

    def test_what_trec_files_cannot_hold_is_counted(self, tmp_path):
        records = [
            {"iteration": 1, "results": []},
            {"iteration": 0},
            {"conversation_id": "unlabelled", "iteration": 1, "results": [doc("a", None)]},
        ]
        _, qrels, counts = converted(tmp_path, records)
        assert qrels == []
        assert (counts.without_results, counts.without_judgments) == (1, 2)
        assert (counts.rejected_records, counts.with_rejected_records) == (1, 1)

    def test_does_not_depend_on_the_order_of_records(self, tmp_path):
        records = [
            {"conversation_id": f"c{n % 5}", "iteration": n + 1, "results": [doc(f"d{n % 7}", 1)]}
            for n in range(40)
        ]
        assert converted(tmp_path, records) == converted(tmp_path, records[::-1])

    def test_nothing_is_left_behind_when_it_fails(self, tmp_path):
        with pytest.raises(UsageError, match="no such folder"):
            write_trec([], RULES, "doc_id", "t", str(tmp_path / "run"), str(tmp_path / "no/qrels"))
        assert list(tmp_path.iterdir()) == []


def doc(name, gain):
    return {"ids": {"doc_id": name}, "gain": gain}


def converted(folder, records):
    traces, run, qrels = (folder / name for name in ("t.jsonl", "run", "qrels"))
    traces.write_text("".join(json.dumps({"conversation_id": "c"} | r) + "\n" for r in records))
    counts = write_trec(local_files([str(traces)]), RULES, "doc_id", "tag", str(run), str(qrels))
    return lines_of(run), lines_of(qrels), counts


class TestNames:
    @given(st.lists(st.text(min_size=1), unique=True, max_size=8))
    def test_words_are_single_and_stay_apart(self, texts):
        words = [word(text) for text in texts]
        assert all(len(one.split()) == 1 and one.isprintable() for one in words)
        assert len(set(words)) == len(texts)

    def test_an_id_that_two_share_names_neither(self):
        places = [Place(1, 1, 0, rank) for rank in range(1, 6)]
        names = document_names(["a", "b", "a", "", "i1.call0.rank4"], places)
        assert names == [
            "i1.call0.rank1",
            "b",
            "i1.call0.rank3",
            "i1.call0.rank4",
            "i1.call0.rank5",
        ]
        assert max(Counter(names).values()) == 1


class TestMistakes:
    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("t Q0 d 1 2", "six fields between white space; this one has 5"),
            ("t Q0 d 1 high x", "the score is 'high'"),
            ("t Q0 d 1 inf x", "the score is 'inf'"),
            ("t Q0 first 7 3 x", "stands on line 1 already"),
            ('{"topic": 1}', "JSON"),
        ],
    )
    def test_in_a_run_have_their_line(self, tmp_path, line, said, capsys):
        run, traces = tmp_path / "run", tmp_path / "traces.jsonl"
        run.write_text(f"t Q0 first 1 2 x\n\n{line}\n")
        assert main(["convert", "--from-run", str(run), "--to-traces", str(traces)]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"goodgain: {run}:3: ")
        assert said in error
        assert [path.name for path in tmp_path.iterdir()] == ["run"]

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("t 0 d", "this one has 3"),
            ("t 0 d 5", "The label is 5"),
            ("t 0 first 1", "another label on line 1"),
        ],
    )
    def test_in_qrels_have_their_line(self, tmp_path, line, said, capsys):
        run, qrels = tmp_path / "run", tmp_path / "qrels"
        run.write_text("t Q0 first 1 2 x\n")
        qrels.write_text(f"t 0 first 2\n{line}\n")
        words = ["--from-run", run, "--from-qrels", qrels, "--to-traces", tmp_path / "t.avro"]
        assert main(["convert", *map(str, words)]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"goodgain: {qrels}:2: ")
        assert said in error

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ("", "Give --from-run and --to-traces"),
            ("--from-run a --to-run b", "different directions"),
            ("--from-run a --to-traces b.jsonl", "a cannot be read"),
            ("--from-traces a", "needs --to-run, --to-qrels or both"),
            ("--from-traces a --to-run b --to-qrels b", "must be two files"),
            ("--from-traces a --to-run b", "No file matches a"),
            (f"--from-run {RUN} --to-traces b.txt", "The format of b.txt is unknown"),
            (f"--from-run {RUN} --to-traces no/b.avro", "no/b.avro cannot be written"),
            ("--from-run a --to-traces b --iteration-pattern x", "needs --iteration-from"),
            ("--from-run a --to-traces b --iteration-from rank", "must be tag or q0"),
            (
                f"--from-run {RUN} --to-traces b.avro --iteration-from tag --iteration-pattern (",
                "no regular expression",
            ),
            (
                f"--from-run {RUN} --to-traces b.avro --iteration-from tag",
                "results.test:1: the tag",
            ),
        ],
    )
    def test_of_options_are_one_sentence(self, tmp_path, monkeypatch, words, said, capsys):
        monkeypatch.chdir(tmp_path)
        assert main(["convert", *words.split()]) == 2
        captured = capsys.readouterr()
        assert said in captured.err
        assert captured.err.count("\n") == 1
        assert list(tmp_path.iterdir()) == []
