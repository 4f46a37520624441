"""A stream read to its end gives the results of batch, through Beam and its bundles."""

from random import Random

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to

from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.means.options import MeansOptions
from goodgain.transforms.core.means.relations import OutcomeRelation
from goodgain.transforms.core.means.slices import slice_of
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.streaming.options import Closing
from goodgain.transforms.means import GlobalMeans, SumMeans
from goodgain.transforms.windowed_means import WindowedMeans
from tests.adversarial import conversation_records
from tests.core.direct import scoring, shipped_rules
from tests.core.scoring.test_aspects import with_aspects
from tests.core.scoring.test_passages import with_passage_ids
from tests.transforms.streams import CENTURY, Script, at, batch_scores, minute_of, play

pytestmark = pytest.mark.slow

COSTS = ("tokens", "usd")
SCORING = scoring(
    per_call=True,
    cost=COSTS,
    budget=("tokens=10", "usd=0.2"),
    max_i=3,
    usage=True,
    outcome=("correct", "rating>=0.5"),
    pass_=("CG >= 1", "outcome.correct >= 1"),
    pass_k=(1, 2),
)
PASSAGES = scoring(
    shipped_rules(unit="passage"), ("cg", "strec@3"), document_label="best", aspects=True
)
CONVERSATIONS = 6
REPEATS = [
    f"{name}[{condition}]" for condition in SCORING.conditions for name in ("pass@1", "pass@2")
]
REPEATS += [
    f"{name}[{condition}]" for condition in SCORING.conditions for name in ("pass^1", "pass^2")
]
REPEATS += [f"flip_rate[{condition}]" for condition in SCORING.conditions]
BY_ARM = MeansOptions((("arm",),), cluster="query")


def random_costs(random):
    """Costs of a call: some missing, some not exact in binary, and one that is not measured."""
    return {
        name: random.choice([0, 0.1, 0.7, 3, 1e6 / 7])
        for name in (*COSTS, "milliseconds")
        if random.random() < 0.93
    }


def random_outcomes(random):
    """Outcomes of a call, of which the last in order count."""
    values = {"correct": random.randrange(2), "rating": random.random(), "unused": 1}
    return {name: value for name, value in values.items() if random.random() < 0.4}


def timed_calls(random):
    """Calls of several conversations with up to 11 minutes between events."""
    calls = []
    for number in range(CONVERSATIONS):
        minute = random.randrange(60)
        for record in conversation_records(random):
            minute += random.randrange(12)
            timed = {"conversation_id": f"c-{number}", "timestamp": at(minute), "is_final": False}
            timed["outcomes"] = random_outcomes(random)
            timed["attributes"] = {**(record.get("attributes") or {}), "query": f"q-{number // 3}"}
            timed["action"] = random.choice(["search", "search", "search", "open", "cite"])
            calls.append(parse_mapping({**record, **timed, "costs": random_costs(random)}))
    return calls


def script_of(calls, random):
    """The calls in small bundles, up to 15 minutes late; the watermark lags by 0 to 15 minutes."""
    script = Script()
    lateness = random.choice([0, 5, 15])
    arrivals = sorted(calls, key=lambda call: call.timestamp + random.randrange(15 * 60_000))
    newest = reached = 0
    while arrivals:
        bundle = [arrivals.pop(0) for _ in range(min(len(arrivals), random.randint(1, 5)))]
        script.arrive(*bundle)
        newest = max([newest, *(minute_of(call.timestamp) for call in bundle)])
        if newest - lateness > reached:
            reached = newest - lateness
            script.watermark(reached)
    return script


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_scores_equal_those_of_batch(seed):
    random = Random(seed)
    calls = timed_calls(random)
    given = play(script_of(calls, random), Closing(), SCORING)
    assert given["late"] == []
    streamed = [parts(score) for _, score in given["scores"]]
    assert len(streamed) == CONVERSATIONS
    searched = [conversation for conversation, *_ in streamed if conversation.N]
    assert all({"cost.tokens", "CG_per.usd"} <= row.metrics.keys() for row in searched)
    assert any(row["CG_per.tokens"] is not None for row in searched)
    assert any(row["opened"] for row in searched)
    assert any(row["cited"] for row in searched)
    assert {row["outcome.correct"] for row in searched} >= {0, 1}
    assert {row["outcome.rating"] for row in searched} >= {0, 1}
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        scores = batch_scores(pipeline, calls, SCORING)
        assert_that(scores | beam.Map(parts), equal_to(streamed))


def test_passages_and_aspects_equal_those_of_batch():
    random = Random(5)
    records = [
        {**record, "conversation_id": f"c-{number}", "timestamp": at(minute), "is_final": False}
        for number in range(CONVERSATIONS)
        for minute, record in enumerate(conversation_records(random))
    ]
    calls = list(map(parse_mapping, with_passage_ids(random, with_aspects(random, records))))
    given = play(script_of(calls, random), Closing(), PASSAGES)
    streamed = [parts(score) for _, score in given["scores"]]
    assert sum(row.aspects for row, *_ in streamed) > CONVERSATIONS
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        scores = batch_scores(pipeline, calls, PASSAGES)
        assert_that(scores | beam.Map(parts), equal_to(streamed))


def parts(score):
    return score.conversation, score.iterations, score.calls, score.budgets, score.counts


def test_means_in_the_last_panes_equal_those_of_batch():
    """One window holds all conversations, in bundles of one element, so that sums are merged."""
    calls = timed_calls(Random(3))
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        scores = batch_scores(pipeline, calls, SCORING)
        means = scores | GlobalMeans(SCORING, BY_ARM)
        panes = scores | WindowedMeans(SCORING, Closing(), BY_ARM, CENTURY)
        last = panes.rows | beam.Filter(lambda one: one.is_last) | beam.Map(lambda one: one.row)
        last.element_type = MeanRow
        both = (
            {"batch": means | "a" >> beam.Map(key_row), "stream": last | "b" >> beam.Map(key_row)}
            | beam.CoGroupByKey()
            | beam.Map(lambda grouped: grouped[1]["batch"] == grouped[1]["stream"])
            | beam.Distinct()
        )
        assert_that(both, equal_to([True]))
        repeats = last | beam.Filter(lambda row: "[" in row.metric and not row.slice)
        names = (
            repeats | "n" >> beam.Map(lambda row: (row.metric, row.n > 0)) | "d" >> beam.Distinct()
        )
        assert_that(names, equal_to([(name, True) for name in REPEATS]), "repeats")


def test_relations_in_the_last_panes_equal_those_of_batch():
    """Outcomes set against metrics, with clusters."""
    calls = timed_calls(Random(3))
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        scores = batch_scores(pipeline, calls, SCORING)
        sums = scores | SumMeans(SCORING, BY_ARM)
        batch = sums | beam.FlatMap(lambda one: one[1].relations(slice_of(one[0]), SCORING.plan))
        panes = scores | WindowedMeans(SCORING, Closing(), BY_ARM, CENTURY)
        last = (
            panes.relations | beam.Filter(lambda one: one.is_last) | beam.Map(lambda one: one.row)
        )
        last.element_type = OutcomeRelation
        both = (
            {
                "batch": batch | "a" >> beam.Map(relation_of),
                "stream": last | "b" >> beam.Map(relation_of),
            }
            | beam.CoGroupByKey()
            | beam.Map(lambda grouped: (grouped[0][0], grouped[1]["batch"] == grouped[1]["stream"]))
            | beam.Distinct()
        )
        assert_that(both, equal_to([("outcome.correct", True), ("outcome.rating", True)]))


def relation_of(row):
    return (row.outcome, row.metric, row.population, str(sorted(row.slice.items()))), row


def key_row(row):
    return (str(sorted(row.slice.items())), row.metric, row.i, row.population), row
