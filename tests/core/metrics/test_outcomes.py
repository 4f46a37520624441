"""Outcomes as metrics: how they are asked for, which record counts, and what stays of them."""

import pytest

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.groups import column_of, groups_in, metric_of
from goodgain.transforms.core.metrics.outcomes import (
    TurnOutcome,
    choose_outcomes,
    outcomes_of,
    parse_outcome,
    remember_outcomes,
)
from tests.core.direct import plan, score_one

CORRECT = TurnOutcome("correct")


@pytest.fixture(autouse=True)
def forget():
    """Leave no declaration behind for other tests."""
    yield
    remember_outcomes(map(TurnOutcome, ("correct", "rating", "errors")))


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("correct", CORRECT),
        ("rating>=0.7", TurnOutcome("rating", 0.7)),
        ("rating >= -1e3", TurnOutcome("rating", -1000.0)),
        ("errors:lower", TurnOutcome("errors", None, True)),
        ("errors>=1:lower", TurnOutcome("errors", 1.0, True)),
    ],
)
def test_parsed(text, outcome):
    assert parse_outcome(text) == outcome
    assert parse_outcome(str(outcome)) == outcome


@pytest.mark.parametrize(
    "text", ["", "a b-c", "rating>=", "rating>=x", "rating>=nan", "rating<1", "a__b", "a:higher"]
)
def test_what_is_no_outcome(text):
    with pytest.raises(UsageError, match="is not an outcome"):
        parse_outcome(text)


def test_chosen():
    assert choose_outcomes(None, {"b", "a", "not-a-column"}) == (TurnOutcome("a"), TurnOutcome("b"))
    assert choose_outcomes((), {"a"}) == ()
    with pytest.raises(UsageError, match="more than once: rating"):
        choose_outcomes(("rating", "rating>=0.5"), ())


def record(iteration, turn=1, **more):
    results = [{"id": str(iteration), "gain": 3}]
    base = {"conversation_id": "c", "turn": turn, "iteration": iteration, "results": results}
    return {**base, **more}


def outcome_in(records, outcome=CORRECT):
    return score_one(records, outcome=(str(outcome),)).conversation[f"outcome.{outcome.name}"]


def test_the_last_record_of_the_last_turn_that_has_it_counts():
    records = [
        record(1, outcomes={"correct": 1}),
        record(1, turn=2, outcomes={"correct": 0, "rating": 3}),
        record(2, turn=2, outcomes={"correct": 1}),
        record(3, turn=2),
    ]
    assert outcome_in(records) == 1
    assert outcome_in(records[:2]) == 0
    assert outcome_in(records, TurnOutcome("rating")) == 3
    assert outcome_in([*records[:1], record(1, turn=2)]) is None
    assert outcome_in([record(1, outcomes={"correct": 1}, turn_count=2)]) is None
    of_answer = record(4, turn=2, action="cite", outcomes={"correct": 0})
    assert outcome_in([*records, of_answer]) == 0


def test_bounds_make_one_and_zero():
    of_rating = TurnOutcome("rating", 0.7)
    for rating, value in ((0.7, 1), (0.69, 0), (-5, 0), (1e300, None)):
        assert outcome_in([record(1, outcomes={"rating": rating})], of_rating) == value
    assert outcome_in([record(1)], of_rating) is None
    assert outcome_in([record(1, outcomes={"rating": -5})], TurnOutcome("rating")) == -5


def means_of(scores, **options):
    of_run = plan((), 1, groups=(CORRECT.group,))
    sums = MeansAccumulator()
    for score in scores:
        sums.add(conversation_values(score, of_run))
    rows = sums.rows({}, of_run)
    return {row.population: row for row in rows if row.metric == "outcome.correct"}


def conversation(outcome, searched=True):
    one = record(1, outcomes={} if outcome is None else {"correct": outcome})
    if not searched:
        one |= {"action": "open"}
    return score_one([one], outcome=(str(CORRECT),), metrics=(), max_i=1)


def test_conversations_without_search_keep_theirs_in_everyone():
    idle = conversation(1, searched=False)
    assert idle.conversation["outcome.correct"] == 1
    assert idle.conversation["CG"] is None
    means = means_of([conversation(1), conversation(0), idle, conversation(None)])
    assert (means["all"].n, means["all"].undefined, means["all"].mean) == (2, 1, 0.5)
    assert (means["everyone"].n, means["everyone"].mean) == (3, pytest.approx(2 / 3))


def test_intervals_are_wilsons_where_all_values_are_0_or_1():
    assert means_of([conversation(1), conversation(0)])["all"].interval == "wilson"
    graded = means_of([conversation(1), conversation(0), conversation(0.5)])["all"]
    assert graded.interval == "hall"


def test_readers_know_how_a_run_understood_them():
    remember_outcomes(outcomes_of(["correct", "errors:lower", "rating>=0.7"]))
    assert metric_by_name("outcome.errors").direction == "lower"
    assert metric_by_name("outcome.rating").in_percent
    assert metric_by_name("outcome.other").direction == "higher"
    assert column_of("outcome.rating") == "outcome__rating"
    assert metric_of("outcome__rating") == "outcome.rating"
    groups = groups_in(["CG", "outcome.errors", "cost.usd"])
    assert TurnOutcome("errors", None, True).group in groups
