"""The tools that we compare with; each computes {spelling: value} per topic of judged runs."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from functools import cache

from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
from goodgain.transforms.core.ranking.names import parse_ranking_metrics
from tests.conformity.topics import Topic, by_id

LEVEL = 2  # the least gain of a relevant document, for every tool
Values = list[dict[str, float | None]]


def ours(topics: list[Topic], names: list[str]) -> Values:
    evaluator = RankingEvaluator(parse_ranking_metrics(names), LEVEL)
    return [
        dict(zip(names, evaluator.evaluate(topic.labels, topic.pool), strict=True))
        for topic in topics
    ]


def trec_eval(qrels: dict, run: dict, spellings: list[str], level: int = LEVEL) -> Values:
    """trec_eval's own C code, through pytrec_eval."""
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(spellings), relevance_level=level)
    values = evaluator.evaluate(run)
    return [{spelling: values[topic][spelling] for spelling in spellings} for topic in run]


def ranx(qrels: dict, run: dict, spellings: list[str]) -> Values:
    from ranx import Qrels, Run, evaluate

    ranx_run = Run(run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluate(Qrels(qrels), ranx_run, list(spellings))
    return [
        {spelling: float(ranx_run.scores[spelling][topic]) for spelling in spellings}
        for topic in run
    ]


def compiled_bpref(qrels: dict, run: dict, spellings: list[str]) -> Values:
    """ranx's bpref as its users run it: compiled, and 0 where plain Python divides by zero.

    All topics must have the same number of judgments and the same number of results.
    """
    import numba
    import numpy as np
    from ranx import Qrels, Run

    arrays = [np.array(part.to_typed_list()) for part in (Qrels(qrels), Run(run))]
    numba.set_num_threads(1)  # as ranx does for fewer than ten topics
    levels = [int(spelling.partition("-l")[2] or 1) for spelling in spellings]
    columns = [_compiled_loop()(*arrays, level) for level in levels]
    return [
        dict(zip(spellings, map(float, row), strict=True)) for row in zip(*columns, strict=True)
    ]


@cache
def _compiled_loop() -> Callable:
    """ranx's loop of bpref over topics, compiled even though tests/conftest.py disables it."""
    from numba import config, types

    names = ("common", "get_hit_lists", "get_unjudged_lists", "bpref")
    modules = [sys.modules[f"ranx.metrics.{name}"] for name in names]
    before = config.DISABLE_JIT
    try:
        config.DISABLE_JIT = 0
        for module in modules:
            importlib.reload(module)
        loop = modules[-1]._bpref_parallel
        rows = types.float64[:, :, ::1]
        loop.compile((rows, rows, types.int64))
    finally:
        config.DISABLE_JIT = before
        for module in modules:
            importlib.reload(module)
    return loop


def ir_measures(qrels: dict, run: dict, spellings: list[str]) -> Values:
    import ir_measures

    measures = {spelling: ir_measures.parse_measure(spelling) for spelling in spellings}
    names = {str(measure): spelling for spelling, measure in measures.items()}
    values: dict[str, dict[str, float | None]] = {topic: dict.fromkeys(spellings) for topic in run}
    for metric in ir_measures.iter_calc(list(measures.values()), qrels, run):
        values[metric.query_id][names[str(metric.measure)]] = metric.value
    return [values[topic] for topic in run]


def scikit_learn(qrels: dict, run: dict, spellings: list[str]) -> Values:
    from sklearn import metrics

    def value(spelling: str, topic: str) -> float:
        gains, scores = [], []
        for document, score in run[topic].items():
            # Unjudged documents have no class for AUC; other metrics count them as non-relevant.
            if document in qrels[topic] or spelling != "roc_auc_score":
                gains.append(qrels[topic].get(document, 0))
                scores.append(score)
        if spelling == "ndcg_score":
            return metrics.ndcg_score([gains], [scores])
        return getattr(metrics, spelling)([gain >= LEVEL for gain in gains], scores)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [{spelling: value(spelling, topic) for spelling in spellings} for topic in run]


def values_of(tool: str, topics: list[Topic], spellings: list[str]) -> Values:
    """The tool's values for these topics."""
    return TOOLS[tool](by_id(topics, "qrels"), by_id(topics, "run"), spellings)


TOOLS = {
    "trec_eval": trec_eval,
    "ranx": ranx,
    "ir_measures": ir_measures,
    "scikit-learn": scikit_learn,
}
