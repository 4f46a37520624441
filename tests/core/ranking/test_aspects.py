"""strec and alpha_ndcg against pyndeval, TREC's ndeval: its own example, and generated topics."""

from random import Random

import pyndeval
import pytest

from goodgain.transforms.core.judgments.aspects import aspect_judgments
from goodgain.transforms.core.judgments.judgment import LabelKeys, document_digest
from goodgain.transforms.core.ranking.aspects import Aspects, IdealRanking, ListAspects
from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
from goodgain.transforms.core.ranking.names import parse_ranking_metrics

CUTOFFS = (1, 2, 5, 10, 20)
OURS = {f"strec@{k}": f"strec@{k}" for k in CUTOFFS} | {
    f"alpha-nDCG@{k}": f"alpha_ndcg@{k}" for k in CUTOFFS
}
# Of pyndeval's README and tests.
QRELS = [("0", "a", "A", 1), ("0", "b", "B", 1), ("0", "b", "D", 1), ("0", "c", "C", 1)]
RUN = ["A", "D", "E", "B"]
PUBLISHED = {
    "alpha-nDCG@5": 0.7868,
    "alpha-nDCG@10": 0.7868,
    "alpha-nDCG@20": 0.7868,
    "strec@5": 0.6666,
    "strec@10": 0.6666,
    "strec@20": 0.6666,
}


def evaluate(qrels, topic, ranked):
    """Our values by the names of pyndeval."""
    labels = [(of, name, aspect, label) for of, aspect, name, label in qrels]
    judged = aspect_judgments(LabelKeys(), labels).by_topic[topic]
    covered = [judged.names.get(document_digest(name), Aspects()) for name in ranked]
    evaluator = RankingEvaluator(parse_ranking_metrics(OURS.values()), 1)
    values = evaluator.evaluate([-1] * len(ranked), [], aspects=ListAspects(covered, judged.topic))
    return dict(zip(OURS, values, strict=True))


def test_the_example_of_pyndeval():
    found = evaluate(QRELS, "0", RUN)
    assert {name: found[name] for name in PUBLISHED} == pytest.approx(PUBLISHED, abs=1e-4)


def generate(random, topic):
    """Judgments and a ranked list; many documents cover equally many aspects."""
    names = [f"d{number}" for number in range(random.randint(1, 40))]
    aspects = [str(number) for number in range(1, random.randint(2, 8))]
    qrels = [
        (topic, aspect, name, random.choice([0, 0, 1, 1, 2]))
        for name in names
        for aspect in aspects
        if random.random() < 0.6
    ]
    qrels.append((topic, aspects[0], names[0], 1))
    ranked = [*names, *(f"x{number}" for number in range(10))]
    random.shuffle(ranked)
    return list({key[:3]: key for key in qrels}.values()), ranked[: random.randint(1, 25)]


def test_generated_topics_equal_pyndeval():
    random = Random(13)
    for number in range(300):
        topic = str(number)
        qrels, ranked = generate(random, topic)
        run = [(topic, name, float(-at)) for at, name in enumerate(ranked)]
        theirs = pyndeval.ndeval(qrels, run, measures=list(OURS))[topic]
        assert evaluate(qrels, topic, ranked) == pytest.approx(theirs, rel=1e-9, abs=1e-12)


def test_the_ideal_is_ranked_only_as_far_as_it_is_needed():
    documents = [Aspects([bytes([at])]) for at in range(200)]
    ideal = IdealRanking(documents)
    assert ideal.gain(1) == 1
    assert len(ideal._left) == 199
    assert ideal.gain(None) == ideal.gain(200) == ideal.gain(500)
