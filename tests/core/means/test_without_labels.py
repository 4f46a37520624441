"""Means of metrics that need labels are undefined if no result has one."""

from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from goodgain.transforms.core.metrics.pool import POOL
from goodgain.transforms.core.ranking.families import GAUC, GAUC_WEIGHTED
from goodgain.transforms.core.ranking.names import DEFAULT_RANKING_METRICS
from tests.core.direct import plan, score_one

NEED_NO_LABELS = {
    "N",
    "calls",
    "calls_empty",
    "calls_failed",
    "queries_repeated",
    "R",
    "UR",
    "DupR",
    "SRR",
    "unlabelled",
    "label_conflicts",
    "redelivered",
}
NEED_NO_LABELS |= {
    "R_i",
    "UR_i",
    "Dup_i",
    "unlabelled_i",
    "R_at_i",
    "UR_at_i",
    "DupR_at_i",
    "SRR_at_i",
}


def test_every_metric_declares_whether_it_needs_labels():
    ours = {metric.name for metric in (*CONVERSATION_METRICS, *GAINS.by_i)}
    assert {name for name in ours if not metric_by_name(name).needs_labels} == NEED_NO_LABELS
    ranking = [metric.name for metric in (*DEFAULT_RANKING_METRICS, GAUC, GAUC_WEIGHTED)]
    free = {name for name in ranking if not metric_by_name(name).needs_labels}
    assert free == {"rbp_residual.8", "judged@10"}
    # A pool has labels of its own, so 0 is a meaningful value.
    assert not any(metric_by_name(metric.name).needs_labels for metric in POOL.metrics)


def rows(*gains):
    accumulator = MeansAccumulator()
    for gain in gains:
        score = score_one([{"results": [{"id": "a", "gain": gain}]}])
        accumulator.add(conversation_values(score, plan(max_i=2)))
    return accumulator.rows({}, plan(max_i=2))


def test_one_label_is_enough_for_all_means():
    assert all(row.note != "no result has a label" for row in rows(None, 0))


def test_means_without_labels_are_null_and_counted_as_undefined():
    for row in rows(None, None):
        if metric_by_name(row.metric).needs_labels:
            assert (row.mean, row.n, row.note) == (None, 0, "no result has a label")
            assert row.undefined == (2 if row.i != 2 or row.population == "all" else 0)
        else:
            assert row.note != "no result has a label"
