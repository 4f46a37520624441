"""Means over records, computed with the core alone."""

import msgspec

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
    found = (conversation_values(score, plan(RANKING, max_i)) for score in scores.values())
    return [values for values in found if values is not None]


def accumulate(values):
    accumulator = MeansAccumulator()
    for value in values:
        accumulator.add(value)
    accumulator.compact()
    return accumulator


def copy_by_bytes(accumulator):
    """The accumulator, encoded to bytes and decoded."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(accumulator), type=MeansAccumulator)


def merge(values, parts=1):
    """The accumulator over values, merged from some parts as workers send them."""
    sums = [MeansAccumulator() for _ in range(parts)]
    for at, value in enumerate(values):
        sums[at % parts].add(value)
    whole = MeansAccumulator()
    for part in sums:
        part.compact()
        whole.merge(copy_by_bytes(part))
    return whole


def merge_randomly(values, order):
    """The accumulator over values in any order, merged from some parts that come in any order."""
    shuffled = list(values)
    order.shuffle(shuffled)
    parts = [MeansAccumulator() for _ in range(order.randint(1, 5))]
    for added in shuffled:
        part = order.choice(parts)
        part.add(added)
        if order.random() < 0.3:
            part.compact()
        if order.random() < 0.3:
            parts[parts.index(part)] = copy_by_bytes(part)
    while len(parts) > 1:
        other = parts.pop(order.randrange(len(parts)))
        order.choice(parts).merge(copy_by_bytes(other))
    return parts[0]


def exact_rows(accumulator, plan=PLAN):
    """Rows as text, which shows every bit of a float."""
    return [repr(row) for row in accumulator.rows({}, plan)]


def means(records, max_i=4, **options):
    """Rows of means by (metric, i, population)."""
    accumulator = MeansAccumulator()
    for values in values_of(records, max_i, **options):
        accumulator.add(values)
    rows = accumulator.rows({}, plan(RANKING, max_i))
    found = {(row.metric, row.i, row.population): row for row in rows}
    assert len(found) == len(rows)
    return found
