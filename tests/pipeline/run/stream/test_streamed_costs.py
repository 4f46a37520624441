"""A stream with `--cost` writes the same costs as a run, and live rows have costs too."""

import pytest

import goodgain as gg
from goodgain.pipeline.results.rows import iteration_rows
from goodgain.pipeline.run.stream.datasets import conversation_rows
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.streaming.options import Closing
from tests.core.scoring.test_costs import by_hand
from tests.transforms.streams import Script, at, play

COST, BUDGET, MAX_I = ("tokens", "usd"), ("tokens=100,300",), 3
SECOND = [{"iteration": 1, "costs": {"tokens": 50, "usd": 0.125}, "results": [("a", 3)]}]
ORDER = (2, 0, 3, 1, 4)  # of arrival; the second iteration arrives before the first


def timed_records():
    """The records of two conversations, one minute apart."""
    records = by_hand("c") + by_hand("d", SECOND)
    return [
        {**record, "timestamp": at(minute), "record_id": str(minute)}
        for minute, record in enumerate(records)
    ]


def script():
    """The records in ORDER, one at a time; the last is delivered twice."""
    calls = [parse_mapping(record) for record in timed_records()]
    arrivals = Script()
    for place in ORDER:
        arrivals.arrive(calls[place])
    return arrivals.arrive(calls[ORDER[-1]]).watermark(5, 20, 60)


@pytest.fixture
def plan(plan_of):
    """The plan of `goodgain stream --cost tokens,usd --budget tokens=100,300`."""
    return plan_of(cost=COST, budget=BUDGET, max_i=MAX_I)


def by_id(rows):
    """Gains and costs of rows, by conversation and iteration."""
    return {
        (row["conversation_id"], row.get("i")): {
            name: value for name, value in row.items() if name.startswith(("CG", "GR", "cost"))
        }
        for row in rows
    }


@pytest.mark.slow
def test_a_stream_gives_the_costs_of_a_run(plan):
    scores = [score for _, score in play(script(), Closing(), plan.scoring)["scores"]]
    batch = gg.evaluate(timed_records(), cost=COST, budget=BUDGET, max_i=MAX_I)
    of_run = plan.scoring.plan
    streamed = by_id(row for score in scores for row in conversation_rows(score))
    assert streamed["c", None]["cost.tokens"] == 600
    assert streamed["d", None]["CG_per.usd"] == 24
    assert streamed == by_id(batch.conversations)
    assert by_id(row for score in scores for row in iteration_rows(score)) == by_id(
        batch.iterations
    )
    accumulator = MeansAccumulator()
    for score in scores:
        accumulator.add(conversation_values(score, of_run))
    means = {
        (row.metric, row.i, row.population): (row.n, row.undefined, row.mean, row.ci_low)
        for row in accumulator.rows({}, of_run)
        if "cost" in row.metric or "CG_per" in row.metric or "<=" in row.metric
    }
    assert means["CG@tokens<=100", None, "reached"][2] == 5
    batch_means = {(row["metric"], row["i"], row["population"]): row for row in batch.means}
    for key, mean in means.items():
        row = batch_means[key]
        assert mean == (row["n"], row["undefined"], row["mean"], row["ci_low"]), key


@pytest.mark.slow
def test_live_rows_have_the_costs_known_so_far(plan):
    """The second call of iteration 2 has no usd, so the usd of the iteration become unknown."""
    late = {**timed_records()[2], "timestamp": at(1.5)}
    calls = [parse_mapping(record) for record in (*timed_records()[:2], late)]
    arrivals = Script().arrive(calls[0]).watermark(0.5).arrive(calls[1]).watermark(1.2)
    given = play(arrivals.arrive(calls[2]).watermark(2, 60), Closing(live=True), plan.scoring)
    assert [(live_row.row.i, live_row.row["cost_at_i.usd"]) for _, live_row in given["live"]] == [
        (1, 0.5), (2, 0.75), (2, None)
    ]  # fmt: skip
    assert [live_row.row for _, live_row in given["live"]][::2] == given["scores"][0][1].iterations
