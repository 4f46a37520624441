"""Means over records, computed with the core alone."""

from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import conversation_values
from tests.core.direct import plan, score

RANKING = ("recall", "ndcg@3", "auc")
PLAN = plan(RANKING)


def results(*gains, start=0):
    return [
        {"ids": {"doc_id": str(start + number)}, "gain": gain} for number, gain in enumerate(gains)
    ]


def record(conversation_id, iteration, *gains):
    return {
        "conversation_id": conversation_id,
        "iteration": iteration,
        "results": results(*gains, start=100 * iteration),
    }


def values_of(records, max_i=4, **options):
    scores = score(records, metrics=RANKING, **options)
    found = (conversation_values(one, plan(RANKING, max_i)) for one in scores.values())
    return [values for values in found if values is not None]


def accumulated(values):
    accumulator = MeansAccumulator()
    for one in values:
        accumulator.add(one)
    accumulator.compact()
    return accumulator


def means(records, max_i=4, **options):
    """Rows of means by (metric, i, population)."""
    accumulator = MeansAccumulator()
    for one in values_of(records, max_i, **options):
        accumulator.add(one)
    rows = accumulator.rows({}, plan(RANKING, max_i))
    found = {(row.metric, row.i, row.population): row for row in rows}
    assert len(found) == len(rows)
    return found
