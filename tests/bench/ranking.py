"""Compares how fast we, ranx, pytrec_eval and a plain loop evaluate ranked lists.

`python -m tests.bench.ranking` prints the table; `measure()` returns its rows. All rows have the
same topics and metrics, in one process, and one thread unless the tool starts more. ranx compiles
its functions before the clock starts and has a row of its own for the conversion, which is part of
pytrec_eval's call. The others sort each topic by score; ours does not, since records are in rank
order (SPEC 8). Batches keep the memory below a gigabyte.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Callable
from math import log2
from time import perf_counter

from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
from goodgain.transforms.core.ranking.names import parse_ranking_metrics
from goodgain.transforms.core.ranking.ranked_list import UNJUDGED

METRICS = ("precision@10", "recall@10", "mrr", "map", "ndcg@10")
TREC_EVAL = ("P_10", "recall_10", "recip_rank", "map", "ndcg_cut_10")
THRESHOLD = 1
LABELS_GIVEN = "goodgain, labels given"
FROM_DICTIONARIES = "goodgain, from dictionaries"
BATCH = 500

Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]


def measure(topics: int = 10_000, results: int = 1_000) -> list[dict]:
    """Seconds that each implementation takes for all topics.

    Returns:
      rows of name, seconds, and ratio: the seconds over ours from the same dictionaries.
    """
    import pytrec_eval
    import ranx

    evaluator = RankingEvaluator(parse_ranking_metrics(METRICS), THRESHOLD)
    seconds: dict[str, float] = defaultdict(float)

    def measure_time(name: str, function: Callable, *arguments):
        start = perf_counter()
        outcome = function(*arguments)
        seconds[name] += perf_counter() - start
        return outcome

    def trec_eval(qrels, run):
        return pytrec_eval.RelevanceEvaluator(qrels, set(TREC_EVAL)).evaluate(run)

    draw = random.Random(1)
    _compile_ranx(ranx, draw, results)
    for first in range(0, topics, BATCH):
        qrels, run = _judged_run(draw, range(first, min(first + BATCH, topics)), results)
        labelled = [_labels(qrels[topic], run[topic]) for topic in run]
        measure_time(LABELS_GIVEN, _evaluate, evaluator, labelled)
        measure_time(FROM_DICTIONARIES, _join_and_evaluate, evaluator, qrels, run)
        measure_time("pytrec_eval, from dictionaries", trec_eval, qrels, run)
        measure_time("one loop a metric in Python, from dictionaries", _plain_loops, qrels, run)
        built = measure_time("ranx, building Qrels and Run", _build, ranx, qrels, run)
        measure_time("ranx, evaluating them", ranx.evaluate, *built, list(METRICS))
    return [
        {"name": name, "seconds": spent, "ratio": spent / seconds[FROM_DICTIONARIES]}
        for name, spent in sorted(seconds.items(), key=lambda row: row[1])
    ]


def _judged_run(draw: random.Random, topics: range, results: int) -> tuple[Qrels, Run]:
    """Topics with `results` results by descending score, and a fifth as many judged documents."""
    documents = [f"doc{number}" for number in range(2 * results)]
    qrels, run = {}, {}
    for topic in topics:
        retrieved = draw.sample(documents, results)
        run[str(topic)] = {document: -float(rank) for rank, document in enumerate(retrieved)}
        judged = draw.sample(documents, results // 5)
        gains = draw.choices((0, 1, 2, 3, 4), weights=(60, 20, 10, 6, 4), k=len(judged))
        qrels[str(topic)] = dict(zip(judged, gains, strict=True))
    return qrels, run


def _labels(judged: dict[str, int], ranked: dict[str, float]) -> tuple[list[int], list[int]]:
    return [judged.get(document, UNJUDGED) for document in ranked], list(judged.values())


def _evaluate(evaluator, labelled):
    return [evaluator.evaluate(labels, pool) for labels, pool in labelled]


def _join_and_evaluate(evaluator, qrels, run):
    return [evaluator.evaluate(*_labels(qrels[topic], ranked)) for topic, ranked in run.items()]


def _build(ranx, qrels, run):
    return ranx.Qrels(qrels), ranx.Run(run)


def _compile_ranx(ranx, draw, results):
    """Make ranx compile for the width of the document ids that are measured later."""
    ranx.evaluate(*_build(ranx, *_judged_run(draw, range(20), results)), list(METRICS))


def _plain_loops(qrels: Qrels, run: Run) -> list[tuple[float, ...]]:
    """As in trec_eval: sort each topic by score, then make one pass over the ranks per metric."""
    return [_plain_topic(qrels[topic], scores) for topic, scores in run.items()]


def _plain_topic(judged: dict[str, int], scores: dict[str, float]) -> tuple[float, ...]:
    by_score = sorted(scores.items(), key=lambda item: (item[1], item[0]), reverse=True)
    gains = [judged.get(document, 0) for document, _ in by_score]
    relevant = sum(gain >= THRESHOLD for gain in judged.values())
    first_hits = sum(gain >= THRESHOLD for gain in gains[:10])
    ideal = sorted(judged.values(), reverse=True)
    return (
        first_hits / 10,
        _share(first_hits, relevant),
        _plain_reciprocal_rank(gains),
        _share(_plain_average_precision(gains), relevant),
        _share(_plain_dcg(gains[:10]), _plain_dcg(ideal[:10])),
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _plain_reciprocal_rank(gains: list[int]) -> float:
    for rank, gain in enumerate(gains, 1):
        if gain >= THRESHOLD:
            return 1 / rank
    return 0.0


def _plain_average_precision(gains: list[int]) -> float:
    total, found = 0.0, 0
    for rank, gain in enumerate(gains, 1):
        if gain >= THRESHOLD:
            found += 1
            total += found / rank
    return total


def _plain_dcg(gains: list[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def main() -> None:
    """Print the table."""
    lines = [f"{'':48} {'seconds':>9} {'ratio':>7}\n"]
    lines += [f"{row['name']:48} {row['seconds']:9.2f} {row['ratio']:7.2f}\n" for row in measure()]
    sys.stdout.writelines(lines)


if __name__ == "__main__":
    main()
