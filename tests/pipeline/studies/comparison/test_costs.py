"""Costs in a comparison: the means of each arm equal those of its run."""

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.studies.comparison.arm_rows import read_arm
from goodgain.pipeline.studies.comparison.costs import arm_means
from goodgain.pipeline.studies.comparison.idle_conversations import Unsearched
from goodgain.pipeline.studies.comparison.measures import Measure, choose
from goodgain.pipeline.studies.comparison.sources import Arms
from goodgain.transforms.core.errors import UsageError
from tests.core.direct import plan
from tests.pipeline.studies.comparison.traces import (
    base_arm,
    candidate_arm,
    conversation,
    options_of_run,
)

MAX_I = 5
COSTS = ("tokens", "usd")
PLAN = plan(("ndcg@10",), MAX_I, costs=COSTS)
UNSEARCHED = Unsearched(options_of_run(), PLAN)
SHARED_COLUMNS = (
    "n",
    "undefined",
    "mean",
    "stderr",
    "ci_low",
    "ci_high",
    "interval",
    "clusters",
    "note",
)


def with_costs(conversations, factor):
    """The records with varying costs; every seventh conversation has no usd."""
    records = []
    for at, of_conversation in enumerate(conversations):
        for record in of_conversation:
            tokens = factor * (100 + 7 * at * record["iteration"] % 90)
            usd = {} if at % 7 == 0 else {"usd": tokens / 1e5}
            records.append({**record, "costs": {"tokens": tokens, **usd}})
    return records


def runs(cluster=None, idle=0):
    """Two runs in memory; the second has `idle` more conversations that did not search."""
    candidate = candidate_arm()
    candidate += [conversation(f"idle-{at}", [[2]], turn_count=2) for at in range(idle)]
    options = {"max_i": MAX_I, "cluster": cluster}
    return (
        gg.evaluate(with_costs(base_arm(), 1.0), **options),
        gg.evaluate(with_costs(candidate, 1.5), **options),
    )


def arms_of(base, candidate):
    measures = choose((), (), PLAN)
    of = [
        read_arm(outputs.conversations, outputs.iterations, "arm", measures, UNSEARCHED)
        for outputs in (base, candidate)
    ]
    return Arms(*of, None, None, measures, (), False, False, MAX_I, (), ())


def shared_columns(row):
    return {
        name: row[name] if isinstance(row, dict) else getattr(row, name) for name in SHARED_COLUMNS
    }


@pytest.mark.parametrize("cluster", [None, "market"])
@pytest.mark.parametrize("slice_", [{}, {"market": "fr"}])
def test_each_arm_has_the_means_of_its_run(cluster, slice_):
    names = ("N", "CG", "cost.tokens", "cost.usd", "CG_per_total.tokens", "CG_per_total.usd")
    of_runs = [
        gg.evaluate(run, max_i=MAX_I, cluster=cluster, slices=["market"])
        for run in (with_costs(base_arm(), 1.0), with_costs(candidate_arm(), 1.5))
    ]
    found = list(arm_means(arms_of(*of_runs), [slice_], cluster, "hall"))
    assert len(found) == 2 * (len(names) + 6 * MAX_I)
    for name, run in zip(("base", "candidate"), of_runs, strict=True):
        expected = {
            (row["metric"], row["i"], row["population"]): shared_columns(row)
            for row in run.means
            if row["slice"] == slice_
        }
        for row in (row for arm, row in found if arm == name):
            key = (row.metric, row.i, row.population)
            assert shared_columns(row) == expected[key], key


def test_conversations_without_search_count_if_the_arms_differ_in_their_number():
    base, candidate = runs(idle=8)
    means = {
        (arm, row.metric, row.i, row.population): row
        for arm, row in arm_means(arms_of(base, candidate), [{}], None, "hall")
    }
    row = means["candidate", "cost.tokens", None, "everyone"]
    searched = candidate.means.where(metric="cost.tokens", i=None, population="all")[0]
    assert (row.n, searched["n"]) == (48, 40)
    assert row.mean == pytest.approx(searched["mean"] * 40 / 48)
    assert means["candidate", "CG_at_i", MAX_I, "everyone"].n == 48
    assert means["base", "cost.tokens", None, "everyone"].n == 40


def test_costs_are_compared_like_any_metric():
    arms = arms_of(*runs())
    assert {"cost.tokens", "CG_per.usd"} <= set(arms.measures.at_end)
    values, present = arms.base.values(Measure("cost_at_i.tokens", MAX_I, "all"))
    assert present.all()
    assert values.tolist() == arms.base.at_end["cost.tokens"].tolist()
    values, _ = arms.base.values(Measure("cost_i.tokens", MAX_I, "all"))
    assert not values.any()


def test_choosing_a_cost_includes_its_values_by_iteration_with_the_same_tolerance():
    measures = choose(["cost.usd"], (), plan((), MAX_I, costs=COSTS), ["cost.usd=2"])
    assert (measures.at_end, measures.by_i) == (("cost.usd",), ("cost_at_i.usd",))
    assert measures.tolerance_of(Measure("cost_at_i.usd", 2, "all")) == 2
    with pytest.raises(UsageError, match=r"no metric 'cost.gpu'"):
        choose(["cost.gpu"], (), plan((), MAX_I, costs=COSTS))


def test_runs_without_costs_have_no_means_by_arm():
    runs_ = [gg.evaluate([item for c in base_arm() for item in c], max_i=MAX_I)] * 2
    measures = choose((), (), plan((), MAX_I))
    of = [read_arm(run.conversations, run.iterations, "arm", measures, UNSEARCHED) for run in runs_]
    arms = Arms(*of, None, None, measures, (), False, False, MAX_I, (), ())
    assert list(arm_means(arms, [{}], None, "hall")) == []


@pytest.mark.slow
def test_a_cost_that_only_one_run_has_is_named(tmp_path, capsys):
    base, candidate = runs()
    without = gg.evaluate([item for c in base_arm() for item in c], max_i=MAX_I)
    for name, run in (("base", base), ("candidate", candidate), ("without", without)):
        run.save(tmp_path / name)
    words = ["compare", str(tmp_path / "without"), str(tmp_path / "candidate")]
    assert main(words) == 0
    assert (
        "Only the candidate has Cost (cost.tokens), Gain per unit of tokens"
        in capsys.readouterr().out
    )
    words = ["compare", str(tmp_path / "base"), str(tmp_path / "candidate")]
    assert main([*words, "--output", str(tmp_path / "compared")]) == 0
    rows = list(read_dataset(str(tmp_path / "compared"), "arms"))
    assert {row["arm"] for row in rows} == {"base", "candidate"}
    assert (tmp_path / "compared" / "report.html").read_bytes().count(b'id="costs"') == 1
