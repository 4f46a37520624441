"""Converted files give the numbers of trec_eval, and of the run that they come from (SPEC 8)."""

from collections import defaultdict

import pytest
import pytrec_eval

from goodgain.pipeline.results.finished_run import read_manifest
from goodgain.transforms.core.judgments.judgment import judgment_digest
from tests.conformity import trec_tables
from tests.pipeline.convert.steps import RUN, SAMPLE, SESSIONS, goodgain, goodgain_run, lines_of

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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("traces", [SESSIONS, SAMPLE], ids=["sessions", "sample"])
def test_our_metrics_equal_those_of_trec_eval_on_the_converted_files(tmp_path, traces):
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


@pytest.mark.slow
def test_qrels_made_from_the_traces_change_only_mrr_without_a_good_document(tmp_path):
    """With judgments it is null for a topic without a good document, which no run can find."""
    qrels = tmp_path / "qrels.txt"
    goodgain("convert", "--from-traces", SESSIONS, "--to-qrels", qrels)
    alone = goodgain_run(tmp_path / "alone", "--input", SESSIONS)
    with_qrels = goodgain_run(tmp_path / "with_qrels", "--input", SESSIONS, "--qrels", qrels)
    labels = defaultdict(list)
    for line in qrels.read_text().splitlines():
        topic, _, _, label = line.split()
        labels[topic].append(int(label))
    without_good = {topic for topic in alone if max(labels[topic], default=0) < 2}
    assert {alone[topic]["mrr"] for topic in without_good} == {0}
    assert with_qrels == {
        conversation: row
        | {"judgments_met_again": 0, "qrels_best": max(labels[conversation], default=None)}
        | ({"mrr": None} if conversation in without_good else {})
        for conversation, row in alone.items()
    }
    manifest = read_manifest(str(tmp_path / "with_qrels"))["qrels"]
    assert manifest.pop("files") == [{"path": str(qrels), "size": qrels.stat().st_size}]
    judged = [line.split() for line in qrels.read_text().splitlines()]
    digest = sum(judgment_digest(topic, name, int(gain)) for topic, _, name, gain in judged)
    assert int(manifest.pop("digest"), 16) == digest
    assert manifest == {
        "judgments": 3079,
        "unjudged": 0,
        "repeated": 0,
        "never_retrieved": 0,
        "judgments_met_again": 0,
        "similar_names": 0,
        "results_without_id": 0,
        "conversations_without_topic": 0,
        "conversations_with_several_topics": 0,
        "topics": 116,
        "topics_without_conversation": 0,
        "topics_without_judgments": 17,
        "results_without_judgment": 199,
    }
