"""Metrics of users in streams: rows, panes of means, slices, live rows."""

import pytest

import goodgain as gg
from goodgain.transforms.core.means.options import MeansOptions
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.options import Closing
from tests.golden import stream, traces
from tests.transforms.streams import MINUTE

pytestmark = pytest.mark.slow

SEED = 31
CLOSING = Closing(gap=10 * MINUTE, allowed_lateness=20 * MINUTE, live=True)


@gg.metric(unit="results", words="Best iteration", whole=True)
def best_iteration(prefix: gg.Prefix) -> int:
    """The most good results that one iteration found."""
    return max((iteration.good for iteration in prefix.iterations), default=0)


@pytest.fixture(scope="module")
def streamed():
    scoring = Scoring.default(["ndcg@10", best_iteration])
    means = MeansOptions((("arm",),))
    case = stream.StreamCase("own metric", SEED, scoring, CLOSING, means)
    return stream.outputs_of_stream(case)


@pytest.fixture(scope="module")
def batch():
    # The script of the stream gives other timestamps, which no metric reads.
    return gg.evaluate(traces.records(SEED, 8), metrics=["ndcg@10", best_iteration])


def values(rows, name, *places):
    return {tuple(row[place] for place in places): row[name] for row in rows}


def test_rows_of_complete_conversations_equal_those_of_a_batch(streamed, batch):
    late = {row["conversation_id"] for row in streamed["late"]}
    for table, name, *places in (
        ("conversations", "best_iteration", "conversation_id"),
        ("iterations", "best_iteration_at_i", "conversation_id", "i"),
    ):
        found, expected = (
            values([row for row in rows if row["conversation_id"] not in late], name, *places)
            for rows in (streamed[table], getattr(batch, table))
        )
        assert found == expected
        assert max(found.values()) > 1


@pytest.mark.parametrize("slice_names", [[], ["arm"]])
def test_last_panes_are_means_over_conversations(streamed, slice_names):
    last = [
        row
        for row in streamed["means"]
        if row["is_last"] and (row["metric"], row["population"]) == ("best_iteration", "all")
        if list(row["slice"]) == slice_names
    ]
    missed = [row for row in streamed["missed"] if list(row["slice"]) == slice_names]
    expected = [row["best_iteration"] for row in streamed["conversations"]]
    means = sum(row["n"] for row in last)
    assert means + sum(row["conversations"] for row in missed) == len(expected)
    assert sum(row["n"] * row["mean"] for row in last) <= sum(expected) + 1e-9
    assert missed or sum(row["n"] * row["mean"] for row in last) == pytest.approx(sum(expected))
    assert means > 1


def test_live_rows_have_it(streamed):
    assert any(row["best_iteration_at_i"] for row in streamed["live"])
