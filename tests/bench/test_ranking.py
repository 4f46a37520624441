"""All measured implementations compute the same values, so that their times can be compared."""

from __future__ import annotations

import random

import pytest

from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
from goodgain.transforms.core.ranking.names import parse_ranking_metrics
from tests.bench import ranking


def test_plain_loops_agree_with_ours():
    qrels, run = ranking._judged_run(random.Random(3), range(50), 100)
    evaluator = RankingEvaluator(parse_ranking_metrics(ranking.METRICS), ranking.THRESHOLD)
    ours = ranking._join_and_evaluate(evaluator, qrels, run)
    assert len(ours) == 50
    for own, plain in zip(ours, ranking._plain_loops(qrels, run), strict=True):
        assert own == pytest.approx(plain, rel=1e-9)


@pytest.mark.slow
def test_pytrec_eval_and_ranx_agree_with_ours():
    import pytrec_eval
    import ranx

    qrels, run = ranking._judged_run(random.Random(4), range(50), 100)
    evaluator = RankingEvaluator(parse_ranking_metrics(ranking.METRICS), ranking.THRESHOLD)
    ours = ranking._join_and_evaluate(evaluator, qrels, run)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(ranking.TREC_EVAL)).evaluate(run)
    for own, topic in zip(ours, run, strict=True):
        values = [theirs[topic][measure] for measure in ranking.TREC_EVAL]
        assert own == pytest.approx(values, abs=1e-6)
    means = ranx.evaluate(*ranking._build(ranx, qrels, run), list(ranking.METRICS))
    for name, column in zip(ranking.METRICS, zip(*ours, strict=True), strict=True):
        assert means[name] == pytest.approx(sum(column) / len(column), rel=1e-9)


@pytest.mark.slow
def test_every_row_is_measured():
    rows = ranking.measure(topics=20, results=30)
    assert len(rows) == 6
    assert all(row["seconds"] > 0 for row in rows)
    assert [row["ratio"] for row in rows if row["name"] == ranking.FROM_DICTIONARIES] == [1.0]
