"""Means over conversations: populations and undefined values."""

import msgspec
import pytest

from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.metrics.by_name import metric_by_name
from tests.core.averaging import PLAN, RANKING, means, record, results
from tests.core.direct import plan, score


def test_undefined_values_are_counted_and_not_averaged_as_0():
    row = means([record("q1", 1, 2), record("q2", 1, 0)])["recall", None, "all"]
    assert (row.n, row.undefined, row.mean) == (1, 1, 1.0)
    assert row.note == "one value has no interval"
    nothing = means([record("q2", 1, 0)])["recall", None, "all"]
    assert (nothing.n, nothing.undefined, nothing.mean) == (0, 1, None)
    assert nothing.note == "no conversation has a value"


def test_a_fraction_is_averaged_beside_an_undefined_value():
    copies = [{"ids": {"doc_id": str(number)}, "gain": 2} for number in (1, 2)]
    first = {"conversation_id": "q1", "iteration": 1, "results": copies}
    scores = score([first, record("q2", 1, 0)], metrics=("recall@1",))
    accumulator = MeansAccumulator()
    for conversation_score in scores.values():
        accumulator.add(conversation_values(conversation_score, plan(["recall@1"], 1)))
    (row,) = (
        row for row in accumulator.rows({}, plan(["recall@1"], 1)) if row.metric == "recall@1"
    )
    assert (row.n, row.undefined, row.mean) == (1, 1, 0.5)


def test_conversations_whose_ids_end_alike_are_distinct():
    assert means([record("a-1", 1, 2), record("b-1", 1, 3)])["CG", None, "all"].n == 2


def test_populations_reached_and_all():
    found = means(
        [record("short", 1, 3, 2), record("long", 1, 2), record("long", 2, 2), record("long", 3, 2)]
    )
    over_reached, over_all = found["CG_at_i", 3, "reached"], found["CG_at_i", 3, "all"]
    assert (over_reached.mean, over_reached.n) == (6.0, 1)
    assert (over_all.mean, over_all.n) == (5.5, 2)
    assert (found["RG_at_i", 3, "all"].mean, found["R_i", 3, "all"].mean) == (
        pytest.approx((5 / 3 + 2) / 2),
        0.5,
    )
    beyond = found["CG_at_i", 4, "reached"]
    assert (beyond.n, beyond.mean, beyond.note) == (0, None, "no conversation has a value")
    assert found["CG_at_i", 4, "all"].mean == 5.5


def test_each_conversation_has_the_same_weight():
    found = means([record("a", 1, 2, 2), record("b", 1, 2, 2, *[0] * 6)])
    assert found["SRE", None, "all"].mean == 0.625


def test_conversations_with_rejected_records_are_left_out():
    scores = score([record("a", 1, 2), idle("b")], metrics=RANKING)
    for conversation_score in scores.values():
        rejected = msgspec.structs.replace(
            conversation_score,
            conversation=msgspec.structs.replace(
                conversation_score.conversation, rejected_records=1
            ),
        )
        assert conversation_values(rejected, PLAN) is None
        assert conversation_values(conversation_score, PLAN) is not None


def idle(conversation_id):
    """A record of a conversation whose last turn did not search."""
    return {**record(conversation_id, 1, 4), "turn_count": 2}


def test_everyone_counts_a_conversation_that_never_searched_with_gain_0():
    found = means([record("a", 1, 2, 4), record("a", 2, 3), record("b", 1, 3), idle("c")])
    for metric, i, everyone, searched in (
        ("CG", None, 4, 6), ("SRE", None, 2 / 3, 1), ("N", None, 1, 1.5), ("R_i", 1, 1, 1.5),
        ("CG_at_i", 1, 3, 4.5), ("CG_at_i", 2, 4, 6), ("G_i", 2, 1, 1.5),
        ("SRE_at_i", 4, 2 / 3, 1), ("unlabelled", None, 0, 0), ("GR", None, 4 / 3, 2),
    ):  # fmt: skip
        row = found[metric, i, "everyone"]
        assert (row.mean, row.n, row.undefined) == (pytest.approx(everyone), 3, 0)
        assert (found[metric, i, "all"].mean, found[metric, i, "all"].n) == (searched, 2)
    assert found["CG_at_i", 2, "reached"].n == 1


def test_a_search_that_never_happened_does_not_count_as_one_without_repeats():
    """Metrics that are better when lower are null then: 0 would be their best value."""
    repeated = {**record("a", 2, 4), "results": record("a", 1, 4)["results"]}
    found = means([record("a", 1, 4), repeated, idle("b"), idle("c"), idle("d")])
    better_when_lower = {
        (metric, i) for metric, i, population in found
        if population == "everyone" and metric_by_name(metric).direction == "lower"
    }  # fmt: skip
    assert better_when_lower == {
        ("SRR", None), ("DupR", None), ("iterations_for_all_good_results", None),
        ("iterations_after_last_good", None),
        *((name, None) for name in ("calls_empty", "calls_failed", "queries_repeated")),
        *((metric, i) for metric in ("Dup_i", "DupR_at_i", "SRR_at_i") for i in (1, 2, 3, 4)),
    }  # fmt: skip
    for metric, i in better_when_lower:
        row, searched = found[metric, i, "everyone"], found[metric, i, "all"]
        assert (row.mean, row.n, row.undefined) == (searched.mean, 1, 3)
    assert found["SRR", None, "everyone"].mean == 0.5
    assert found["iterations_after_last_good", None, "everyone"].mean == 1


def test_everyone_has_ranking_metrics_of_conversations_without_search_if_they_are_defined():
    """Recall is undefined without a pool; the RBP residual of an empty list is 1 (SPEC 8)."""
    records = [record("a", 1, 2), idle("b")]
    metrics = ("recall", "precision@2", "hit_rate", "rbp_residual.8", "precision", "judged")
    accumulator = MeansAccumulator()
    for conversation_score in score(records, metrics=metrics).values():
        accumulator.add(conversation_values(conversation_score, plan(metrics, 2)))
    rows = {
        row.metric: row
        for row in accumulator.rows({}, plan(metrics, 2))
        if row.population == "everyone"
    }
    found = {name: (rows[name].mean, rows[name].n, rows[name].undefined) for name in metrics}
    assert found == {
        "recall": (1, 1, 1),
        "precision@2": (0.25, 2, 0),
        "hit_rate": (0.5, 2, 0),
        "rbp_residual.8": (pytest.approx(0.9), 2, 0),
        "precision": (1, 1, 1),
        "judged": (1, 1, 1),
    }
    assert rows["iterations_for_all_good_results"].undefined == 1


def test_there_is_no_population_everyone_if_all_conversations_searched():
    found = means([record("a", 1, 2, 4), record("b", 1, 3)])
    assert {population for _, _, population in found} == {"all", "reached"}


def test_everyone_has_gain_0_if_no_conversation_searched():
    found = means([idle("a"), idle("b")])
    assert (found["CG", None, "all"].mean, found["CG", None, "everyone"].mean) == (None, 0)
    assert found["CG_at_i", 3, "everyone"].n == 2
    assert found["gauc", None, "all"].n == 0


def test_gauc_weighted_by_judged_results():
    """Groups of METRIC_TRAPS: auc 1, 0, null, 0.5 over 3, 2, 2 and 2 judged results."""

    def group(name, labels, scores):
        listed = results(*labels)
        for result, value in zip(listed, scores, strict=True):
            result["score"] = value
        return {"conversation_id": name, "iteration": 1, "results": listed}

    found = means(
        [
            group("a", (2, 0, 0), (0.9, 0.5, 0.1)),
            group("b", (2, 0), (0.2, 0.8)),
            group("c", (2, 2), (0.5, 0.4)),
            group("d", (2, 0), (0.5, 0.5)),
        ]
    )
    gauc, weighted = found["gauc", None, "all"], found["gauc_weighted", None, "all"]
    assert (gauc.mean, gauc.n, gauc.undefined) == (0.5, 3, 1)
    assert weighted.mean == pytest.approx(0.571429, abs=5e-7)
    assert (weighted.stderr, weighted.ci_low) == (None, None)


def test_without_conversations_there_is_still_a_row_for_each_metric():
    at_n = plan(RANKING, max_i=0)
    rows = MeansAccumulator().rows({"arm": "a"}, at_n)
    names = [metric.name for metric in at_n.at_n]
    assert [row.metric for row in rows] == [*names, "gauc_weighted", "gauc"]
    assert all((row.n, row.undefined, row.mean) == (0, 0, None) for row in rows)
    assert all(row.slice == {"arm": "a"} for row in rows)


def test_weighted_gauc_has_no_quantiles():
    rows = MeansAccumulator().rows({}, PLAN)
    (weighted,) = (row for row in rows if row.metric == "gauc_weighted")
    assert (weighted.min, weighted.max, weighted.p10, weighted.p50, weighted.p90) == (None,) * 5
    assert weighted.note == "no conversation has a value"
