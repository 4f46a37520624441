"""Our values equal those that trec_eval prints, per topic and as means, to four decimals."""

from __future__ import annotations

import pytest

from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
from goodgain.transforms.core.ranking.names import parse_ranking_metrics
from tests.conformity import trec_tables

TABLES = list(trec_tables.TABLES)


def values(table, measures):
    """Topic -> measure -> our value."""
    name, level = trec_tables.TABLES[table]
    qrels = trec_tables.qrels(name)
    evaluator = RankingEvaluator(parse_ranking_metrics(measures.values()), level)
    lists = {
        topic: trec_tables.labels_and_pool(qrels[topic], documents)
        for topic, documents in trec_tables.ranked_documents().items()
    }
    return {
        topic: dict(zip(measures, evaluator.evaluate(*both), strict=True))
        for topic, both in lists.items()
    }


def print_table(table, measures):
    return {
        topic: {measure: float(row[measure]) for measure in measures if measure in row}
        for topic, row in trec_tables.expected(table).items()
    }


def as_printed(value):
    return float(f"{value:.4f}")


def mean(by_topic, measure):
    total = sum(row[measure] for row in by_topic.values())
    return total if measure in trec_tables.SUMMED else total / len(by_topic)


@pytest.mark.parametrize("table", TABLES)
def test_every_shared_measure_equals_trec_eval_per_topic_and_mean(table):
    found = values(table, trec_tables.SAME)
    rows = {
        topic: {measure: as_printed(value) for measure, value in row.items()}
        for topic, row in found.items()
    }
    rows["all"] = {measure: as_printed(mean(found, measure)) for measure in trec_tables.SAME}
    assert rows == print_table(table, trec_tables.SAME)


@pytest.mark.parametrize("table", TABLES)
def test_their_unjudged_share_is_1_minus_judged(table):
    found = values(table, trec_tables.COMPLEMENT)
    rows = {
        topic: {measure: as_printed(1 - value) for measure, value in row.items()}
        for topic, row in found.items()
    }
    theirs = print_table(table, trec_tables.COMPLEMENT)
    means = theirs.pop("all")
    # A topic without unjudged results in the first k is printed as 0, or not at all.
    absent = dict.fromkeys(trec_tables.COMPLEMENT, 0.0)
    assert rows == {topic: absent | row for topic, row in theirs.items()}
    assert means == {m: as_printed(1 - mean(found, m)) for m in trec_tables.COMPLEMENT}


def test_every_measure_that_both_have_is_compared():
    compared = {*trec_tables.SAME, *trec_tables.COMPLEMENT, *trec_tables.GRADED_RBP}
    for table in TABLES:
        theirs = {measure for row in trec_tables.expected(table).values() for measure in row}
        rest = {m for m in theirs - compared if not m.startswith(trec_tables.NOT_OURS)}
        assert theirs >= compared
        assert rest == set()


def test_difference_rbp_is_graded_there_and_binary_here():
    differing = {}
    for table in TABLES:
        theirs = print_table(table, trec_tables.GRADED_RBP)
        for topic, row in values(table, trec_tables.GRADED_RBP).items():
            if as_printed(row["rbp"]) != theirs[topic]["rbp"]:
                differing[table, topic] = (as_printed(row["rbp"]), theirs[topic]["rbp"])
    assert differing == {("out.test.aql", "301"): (0.0, 0.0465)}


def test_difference_rbp_is_explained_by_graded_gains():
    documents = trec_tables.ranked_documents()["301"]
    labels, pool = trec_tables.labels_and_pool(
        trec_tables.qrels("qrels.rel_level")["301"], documents
    )
    shares = [max(label, 0) / max(pool) for label in labels]
    graded = 0.1 * sum(share * 0.9**above for above, share in enumerate(shares))
    assert as_printed(graded) == 0.0465


def test_difference_ties_are_sorted_by_document_id_there_and_kept_here():
    """The run's rank column has their order; a trace made from the run must keep it."""
    by_rank = trec_tables.documents_by_rank()
    assert trec_tables.ranked_documents(ties_descending=True) == by_rank
    assert trec_tables.ranked_documents(ties_descending=False) != by_rank


def test_difference_a_negative_label_is_not_judged_non_relevant():
    """With negative labels counted as 0 our values would differ from the tables."""
    judged = trec_tables.qrels("qrels.rel_level")
    documents = trec_tables.ranked_documents()
    evaluator = RankingEvaluator(parse_ranking_metrics(["rbp_residual.9", "bpref"]), 2)
    theirs = trec_tables.expected("out.test.aql")
    differing = set()
    for topic, row in judged.items():
        as_zero = {document: max(label, 0) for document, label in row.items()}
        both = trec_tables.labels_and_pool(as_zero, documents[topic])
        for measure, value in zip(("rbp_resid", "bpref"), evaluator.evaluate(*both), strict=True):
            if f"{value:.4f}" != theirs[topic][measure]:
                differing.add(topic)
    assert differing
