"""Worst and best means are the extremes over all possible labels of unlabelled results (SPEC 8).

Brute force: scores every assignment of labels to the unlabelled results of a few conversations. The
average of the values must reach both bounds and never exceed them.
"""

from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from goodgain.transforms.core.scoring.score import score_conversation
from goodgain.transforms.core.scoring.settings import Scoring
from tests.core.direct import fingerprints, plan, scoring, shipped_rules
from tests.core.judgments.judged import score_judged

MAX_I = 4
BOUNDED = ("hits@2", "hit_rate", "precision", "precision@2", "rbp.8", "mrr", "cg", "dcg@2", "err")
UNBOUNDED = ("recall", "f1@2", "map", "ndcg", "bpref", "auc", "judged")
RANKING = BOUNDED + UNBOUNDED
PLAN = plan(RANKING, MAX_I)
BOUNDED_NAMES = {
    *BOUNDED,
    *(metric.name for metric in (*CONVERSATION_METRICS, *GAINS.by_i) if metric.bounded),
}

# Few documents, so that results repeat; None = no label.
results = st.tuples(st.sampled_from("abcde"), st.sampled_from((None, None, 0, 1, 2, 4)))
calls = st.lists(results, max_size=3)
conversations = st.lists(
    st.lists(calls, min_size=1, max_size=2), min_size=1, max_size=MAX_I - 1
).filter(lambda iterations: count_unlabelled(iterations) <= 2)


def flat(iterations):
    return [result for calls in iterations for call in calls for result in call]


def count_unlabelled(iterations):
    return sum(gain is None for _, gain in flat(iterations))


def label_results(iterations, labels):
    """The conversation with missing labels replaced by `labels`, in order."""
    remaining = iter(labels)
    return [
        [[(name, next(remaining) if g is None else g) for name, g in call] for call in calls]
        for calls in iterations
    ]


def score_records(iterations, how):
    records = [
        {
            "conversation_id": "c",
            "iteration": 2 * i,
            "call": at,
            "results": [{"ids": {"doc_id": name}, "gain": gain} for name, gain in call],
        }
        for i, calls in enumerate(iterations, start=1)
        for at, call in enumerate(calls)
    ]
    return score_conversation("c", fingerprints(records)["c"], 0, how)


def columns(score):
    """The values that each mean averages, by (metric, i, population); None = undefined."""
    values = conversation_values(score, PLAN)
    found = defaultdict(list)
    for metric, value in zip(PLAN.at_n, values.at_n, strict=True):
        found[metric.name, None, "all"].append(value)
    for i, row in enumerate(values.by_i, start=1):
        for metric, value in zip(GAINS.by_i, row, strict=True):
            found[metric.name, i, "all"].append(value)
            if i <= values.n:
                found[metric.name, i, "reached"].append(value)
    for call in values.calls:
        for name, value in zip(RANKING, call, strict=True):
            found[name, None, "calls"].append(value)
    return found


def extremes(key, as_is, outcomes):
    """(n, smallest, largest) of the mean over all combinations of outcomes.

    Only values that are defined without the missing labels are in the mean.
    """
    n, sums = 0, np.zeros(1)
    for now, possible in zip(as_is, outcomes, strict=True):
        counting = [at for at, value in enumerate(now[key]) if value is not None]
        n += len(counting)
        sums = np.add.outer(sums, [sum(values[key][at] for at in counting) for values in possible])
    return n, sums.min() / max(n, 1), sums.max() / max(n, 1)


@pytest.mark.slow
@given(
    several=st.lists(conversations, min_size=1, max_size=2),
    duplicates=st.sampled_from(["compact", "hold_slot"]),
    thresholds=st.sampled_from([(2, 2, 4), (3, 1, 4), (2, 2, 2), (4, 3, 3), (1, 2, 7)]),
)
@settings(max_examples=40)
def test_bounds_are_the_extremes_over_all_labels(several, duplicates, thresholds):
    good, relevant, g_max = thresholds
    scale = range(min(g_max, 4) + 1)
    several = [  # err rejects a label above the scale
        [[[(n, g and min(g, scale[-1])) for n, g in call] for call in calls] for calls in records]
        for records in several
    ]
    how = Scoring(
        shipped_rules(),
        metrics=RANKING,
        relevance_threshold=relevant,
        g_max=g_max,
        good_gain_threshold=good,
        duplicates=duplicates,
        per_call=True,
        bounds=True,
    )
    as_is = [score_records(records, how) for records in several]
    accumulator = MeansAccumulator()
    for score in as_is:
        accumulator.add(conversation_values(score, PLAN))
    outcomes = [
        [
            columns(score_records(label_results(records, labels), how))
            for labels in product(scale, repeat=count_unlabelled(records))
        ]
        for records in several
    ]
    for row in accumulator.rows({}, PLAN):
        if row.metric.startswith("gauc"):  # has no value per conversation
            continue
        key = row.metric, row.i, row.population
        n, least, greatest = extremes(key, list(map(columns, as_is)), outcomes)
        if row.note == "no result has a label":
            assert (row.n, row.worst, row.best) == (0, None, None)
            continue
        assert row.n == n
        if row.metric not in BOUNDED_NAMES or not n:
            assert (row.worst, row.best) == (None, None), key
            continue
        lower_is_better = row.metric == "iterations_after_last_good"
        bounds = (row.best, row.worst) if lower_is_better else (row.worst, row.best)
        assert bounds == pytest.approx((least, greatest), rel=1e-12, abs=1e-12), key


def test_bounds_at_each_i_by_hand():
    """Worked by hand: one conversation stops after i = 1, the other after i = 2."""
    short = [[[("a", 2), ("b", None)]]]
    long = [[[("a", None), ("b", 0)]], [[("a", 3), ("c", None)]]]
    how = scoring(metrics=(), bounds=True)
    accumulator = MeansAccumulator()
    for records in (short, long):
        accumulator.add(conversation_values(score_records(records, how), plan((), 2)))
    found = {(row.metric, row.i, row.population): row for row in accumulator.rows({}, plan((), 2))}

    def bounds(*key):
        return found[key].worst, found[key].best

    assert bounds("CG_at_i", 1, "reached") == (1, 5)  # 2 + 0, at best 6 + 4
    assert bounds("CG_at_i", 2, "reached") == (0, 8)  # the copy of a with label 3 never counts
    assert bounds("CG_at_i", 2, "all") == (1, 7)
    assert bounds("SRE_at_i", 2, "all") == (0.25, 0.75)  # 1/2 and 0/4, at best 2/2 and 2/4
    assert bounds("RG_at_i", 2, "all") == (0.5, 3.5)
    assert bounds("R_at_i", 2, "all") == (None, None)
    assert bounds("iterations_after_last_good", None, "all") == (1, 0)


def test_bounds_are_none_unless_requested():
    score = score_records([[[("a", None)]]], scoring())
    values = conversation_values(score, plan(max_i=2))
    assert (score.best, values.best) == (None, None)
    accumulator = MeansAccumulator()
    accumulator.add(values)
    rows = accumulator.rows({}, plan(max_i=2))
    assert accumulator.best is None
    assert {(row.worst, row.best) for row in rows} == {(None, None)}


def test_a_mean_without_values_has_no_bounds():
    """No judged document is relevant, so mrr is undefined; further labels would not change n."""
    records = [{"results": [{"ids": {"doc_id": name}} for name in "ab"]}]
    judged, keys = {("c", "b"): 0}, LabelKeys()
    score = score_judged(records, judged, keys, metrics=("mrr", "hit_rate"), bounds=True)
    accumulator = MeansAccumulator()
    accumulator.add(conversation_values(score, plan(("mrr", "hit_rate"), 1)))
    found = {row.metric: row for row in accumulator.rows({}, plan(("mrr", "hit_rate"), 1))}
    assert (found["mrr"].n, found["mrr"].worst, found["mrr"].best) == (0, None, None)
    assert (found["hit_rate"].worst, found["hit_rate"].best) == (0, 1)
