"""With plain document ids a pool is equivalent to qrels, and metrics equal trec_eval."""

from random import Random

import pytest
import pytrec_eval

from tests.core.pool.direct import build, score

METRICS = {
    "recall": "recall_1000",
    "recall@5": "recall_5",
    "ndcg": "ndcg",
    "ndcg@5": "ndcg_cut_5",
    "map": "map",
    "precision@5": "P_5",
    "mrr": "recip_rank",
    "bpref": "bpref",
    "r_precision": "Rprec",
}


def traces(random, gains):
    """One run: per topic, iterations with distinct and repeated documents of that topic."""
    records = []
    for topic, labels in gains.items():
        names = random.sample(sorted(labels), random.randint(3, len(labels)))
        for iteration in range(1, 4):
            shown = random.sample(names, min(3, len(names)))
            records.append(
                {
                    "conversation_id": topic,
                    "iteration": iteration,
                    "call": 0,
                    "results": [
                        {"ids": {"doc_id": docid}, "gain": labels[docid]} for docid in shown
                    ],
                }
            )
    return records


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_metrics_equal_those_of_trec_eval(seed):
    random = Random(seed)
    gains = {
        f"q{topic}": {f"d{number}": random.choice([0, 0, 1, 2, 3, 4]) for number in range(12)}
        for topic in range(20)
    }
    found = {name: traces(random, gains) for name in "ABC"}
    built = build(found)
    qrels = {
        topic.conversation_id: {
            document.evidence[0].ids["doc_id"]: document.label() for document in pool.documents
        }
        for topic, pool in built.items()
    }
    judged = pytrec_eval.RelevanceEvaluator(qrels, set(METRICS.values()), relevance_level=2)
    for name, records in found.items():
        scores = score(records, built, name, metrics=tuple(METRICS))
        lists = {}
        for topic in scores:
            own = [record for record in records if record["conversation_id"] == topic]
            shown = [result["ids"]["doc_id"] for call in own for result in call["results"]]
            ranked = list(dict.fromkeys(shown))
            lists[topic] = {docid: float(-rank) for rank, docid in enumerate(ranked)}
        compared = 0
        for topic, theirs in judged.evaluate(lists).items():
            ours = {name: scores[topic].conversation[name] for name in METRICS}
            for metric, value in ours.items():
                if value is not None:  # trec_eval gives 0 if nothing is relevant
                    assert value == pytest.approx(theirs[METRICS[metric]]), (topic, metric)
                    compared += 1
            relevant = [label for label in qrels[topic].values() if label >= 2]
            if relevant:
                recall = scores[topic].conversation.pool_recall
                assert recall == pytest.approx(theirs["recall_1000"])
        assert compared > 100
