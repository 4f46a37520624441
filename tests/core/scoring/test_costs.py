"""Costs of conversations, and their gain per cost (SPEC 5)."""

import math
import random
from fractions import Fraction

import numpy
import pytest

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.metrics.budgets import Budget, parse_budgets
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.groups import column_of, metric_of
from goodgain.transforms.core.metrics.prefix import prefixes
from goodgain.transforms.core.metrics.turn import IterationCounts, Turn
from goodgain.transforms.core.scoring.conversation_score import AtBudget
from tests.adversarial import trace
from tests.core.direct import plan, score, score_one
from tests.reference import costs as reference

NAMES = ("milliseconds", "tokens", "usd")
BUDGET = ("tokens=1,10,25,1000",)
BUDGETS = parse_budgets(BUDGET)

# Iteration 1 gains 3 + 2, iteration 2 gains 4 with two calls, iteration 3 gains 2.
THREE = [
    {"iteration": 1, "costs": {"tokens": 100, "usd": 0.5}, "results": [("a", 3), ("b", 2)]},
    {"iteration": 2, "call": 0, "costs": {"tokens": 200, "usd": 0.25}, "results": [("c", 4)]},
    {"iteration": 2, "call": 1, "costs": {"tokens": 0}, "results": [("a", 3), ("d", 1)]},
    {"iteration": 3, "costs": {"tokens": 300, "usd": 0.25}, "results": [("e", 2)]},
]


def by_hand(conversation_id="c", records=THREE):
    return [
        {
            **record,
            "conversation_id": conversation_id,
            "results": [{"id": id_, "gain": gain} for id_, gain in record["results"]],
        }
        for record in records
    ]


def means_of(scores, max_i=4, cluster=None, costs=NAMES, budgets=BUDGETS):
    of_run = plan(DEFAULT_RANKING, max_i, costs=costs, budgets=budgets)
    accumulator = MeansAccumulator()
    for conversation_score in scores:
        accumulator.add(conversation_values(conversation_score, of_run, cluster))
    return {(row.metric, row.i, row.population): row for row in accumulator.rows({}, of_run)}


def costs_of(row):
    return {name: value for name, value in row.metrics.items() if "cost" in name or "per" in name}


DEFAULT_RANKING = ("ndcg@10", "mrr")


class TestThreeIterations:
    def scored(self, *budget):
        return score_one(by_hand(), cost=("tokens", "usd"), budget=budget)

    def test_costs_of_iterations(self):
        assert [costs_of(row) for row in self.scored().iterations] == [
            {
                "cost_i.tokens": 100,
                "cost_at_i.tokens": 100,
                "cost_i.usd": 0.5,
                "cost_at_i.usd": 0.5,
            },
            {
                "cost_i.tokens": 200,
                "cost_at_i.tokens": 300,
                "cost_i.usd": None,  # its second call has no usd
                "cost_at_i.usd": None,
            },
            {
                "cost_i.tokens": 300,
                "cost_at_i.tokens": 600,
                "cost_i.usd": 0.25,
                "cost_at_i.usd": None,
            },
        ]

    def test_costs_and_gain_per_cost_of_the_conversation(self):
        row = self.scored().conversation
        assert row.CG == 11
        assert costs_of(row) == {
            "cost.tokens": 600,
            "CG_per.tokens": 11 / 600,
            "cost.usd": None,
            "CG_per.usd": None,
        }

    @pytest.mark.parametrize(
        ("limit", "gain", "good", "reached"),
        [
            (99, 0, 0, True),
            (100, 5, 2, True),
            (100 / (1 + 9e-10), 5, 2, True),  # within the tolerance for sums
            (299, 5, 2, True),
            (300, 9, 3, True),
            (600, 11, 4, True),
            (600 * (1 + 9e-10), 11, 4, True),
            (601, 11, 4, False),
        ],
    )
    def test_gain_within_a_budget(self, limit, gain, good, reached):
        found = self.scored(f"tokens={limit}", "usd=1").budgets
        assert found == [AtBudget((gain, good), reached), AtBudget((None, None), False)]

    def test_means(self):
        other = by_hand("d", [{"iteration": 1, "costs": {"tokens": 50}, "results": [("a", 3)]}])
        scores = score(by_hand() + other, cost=("tokens", "usd"), budget=("tokens=300",))
        budgets = (Budget("tokens", 300.0),)
        means = means_of(scores.values(), costs=("tokens", "usd"), budgets=budgets)
        assert means["cost.tokens", None, "all"].mean == 325
        assert means["CG_per.tokens", None, "all"].mean == (11 / 600 + 3 / 50) / 2
        assert means["CG_per_total.tokens", None, "all"].mean == 14 / 650
        assert means["cost_at_i.tokens", 2, "reached"].mean == 300
        assert means["cost_at_i.tokens", 2, "all"].mean == 175
        assert means["cost_i.tokens", 2, "all"].mean == 100
        assert means["cost_at_i.tokens", 4, "all"].mean == 325
        assert means["CG@tokens<=300", None, "all"].mean == (9 + 3) / 2
        assert means["CG@tokens<=300", None, "reached"].mean == 9
        usd = means["cost.usd", None, "all"]
        assert (usd.n, usd.undefined) == (0, 2)

    def test_conversations_without_a_search_spent_nothing_in_the_population_everyone(self):
        other = by_hand("d", [{"iteration": 1, "costs": {"tokens": 50}, "results": [("a", 3)]}])
        idle = {"conversation_id": "e", "iteration": 1, "turn_count": 2}
        scores = score([*by_hand(), *other, idle], budget=("tokens=300",))
        budgets = (Budget("tokens", 300.0),)
        means = means_of(scores.values(), costs=("tokens",), budgets=budgets)
        found = {key: row for key, row in means.items() if key[2] == "everyone"}
        assert found["cost.tokens", None, "everyone"].mean == 650 / 3
        assert found["cost_at_i.tokens", 4, "everyone"].mean == 650 / 3
        assert found["cost_i.tokens", 2, "everyone"].mean == 200 / 3
        assert found["CG@tokens<=300", None, "everyone"].mean == (9 + 3) / 3
        per = found["CG_per.tokens", None, "everyone"]
        assert (per.n, per.undefined, per.mean) == (2, 1, (11 / 600 + 3 / 50) / 2)
        total = found["CG_per_total.tokens", None, "everyone"]
        assert (total.n, total.undefined, total.mean) == (3, 0, 14 / 650)
        spread = numpy.array([11 - 600 * 14 / 650, 3 - 50 * 14 / 650, 0])
        stderr = spread.std(ddof=1) * math.sqrt(3) / 650
        assert total.stderr == pytest.approx(stderr, rel=1e-12)
        assert means["cost.tokens", None, "all"].mean == 325

    def test_no_search_costs_are_null(self):
        record = {"turn": 1, "turn_count": 2, "costs": {"tokens": 3}}
        row = score_one([record], cost=("tokens",), budget=BUDGET).conversation
        assert costs_of(row) == {"cost.tokens": None, "CG_per.tokens": None}

    def test_nothing_spent_has_no_ratio(self):
        records = by_hand(records=[{"iteration": 1, "costs": {"tokens": 0}, "results": [("a", 3)]}])
        row = score_one(records, cost=("tokens",)).conversation
        assert costs_of(row) == {"cost.tokens": 0, "CG_per.tokens": None}

    def test_no_costs_unless_requested(self):
        found = score_one(by_hand())
        assert costs_of(found.conversation) == costs_of(found.iterations[0]) == {}
        assert (found.budgets, found.ratios) == ([], [])


def with_costs(records, seed):
    """The records with costs; some are missing, zero or not exact in binary."""
    draw = random.Random(seed)
    costs = []
    for record in records:
        drawn = {
            name: draw.choice([0, 0.1, 0.7, 3, 10, 1e6 / 7])
            for name in NAMES
            if draw.random() < 0.93
        }
        costs.append({**record, "costs": drawn})
    return costs


@pytest.mark.parametrize("seed", range(20))
def test_costs_equal_those_of_the_reference(seed):
    records = with_costs(trace(random.Random(seed), 5), seed)
    scores = score(records, cost=NAMES, budget=BUDGET)
    for name, found in scores.items():
        own = [record for record in records if record["conversation_id"] == name]
        rows = reference.costs_of(own, NAMES)
        assert [costs_of(row) for row in found.iterations] == rows
        assert costs_of(found.conversation) == reference.at_end(rows, found.conversation.CG, NAMES)
        for at, budget in enumerate(BUDGETS):
            for place, measure in enumerate(("CG_at_i", "GR_at_i")):
                gains = [row[measure] for row in found.iterations]
                expected = reference.at_budget(rows, gains, budget.cost, budget.limit)
                if not rows:
                    expected = (0, False)  # without search nothing is spent
                at_budget = found.budgets[at]
                assert (at_budget.values[place], at_budget.reached) == expected


@pytest.mark.parametrize("seed", range(10))
def test_costs_of_long_turns_are_exact_sums(seed):
    rng = random.Random(seed)
    amounts = [0.0, 0.1, 1.0, 1e16, 1e100, 5e-324]
    costs = [
        [{"usd": rng.choice([*amounts, rng.random()])} for _ in range(rng.randrange(1, 4))]
        for _ in range(100)
    ]
    said = []
    for of_calls, prefix in zip(costs, prefixes(long_turn(costs), 0)[1:], strict=True):
        of_iteration = [Fraction(of_call["usd"]) for of_call in of_calls]
        said += of_iteration
        assert prefix.spent_last == {"usd": float(sum(of_iteration))}
        assert prefix.spent == {"usd": float(sum(said))}


def test_costs_of_a_long_turn_are_unknown_from_a_call_without_them_on():
    costs = [[{"usd": 0.1}]] * 99 + [[{"usd": 0.1}, {}]] + [[{"usd": 0.1}]]
    *_, before, without, after = prefixes(long_turn(costs), 0)
    assert (before.spent, before.spent_last) == ({"usd": 9.9}, {"usd": 0.1})
    assert (without.spent, without.spent_last) == ({"usd": None}, {"usd": None})
    assert (after.spent, after.spent_last) == ({"usd": None}, {"usd": 0.1})


def long_turn(costs):
    iterations = [IterationCounts(i) for i in range(len(costs))]
    return Turn(iterations, costs=costs, cost_names=("usd",))


@pytest.mark.parametrize("seed", range(5))
def test_costs_do_not_depend_on_the_order_of_records(seed):
    records = with_costs(trace(random.Random(seed), 8), seed)
    expected = score(records, cost=NAMES, budget=BUDGET)
    draw = random.Random(seed)
    for _ in range(3):
        draw.shuffle(records)
        again = score(records, cost=NAMES, budget=BUDGET)
        for name, expected_score in expected.items():
            assert again[name].conversation == expected_score.conversation
            assert again[name].iterations == expected_score.iterations
            assert again[name].budgets == expected_score.budgets


@pytest.mark.parametrize(
    ("metric", "column"),
    [
        ("cost_i.usd", "cost_i__usd"),
        ("cost_at_i.gpu_seconds", "cost_at_i__gpu_seconds"),
        ("cost.tokens", "cost__tokens"),
        ("CG_per.usd", "CG_per__usd"),
        ("CG_at_i", "CG_at_i"),
        ("rbp.8", "rbp.8"),
    ],
)
def test_cost_columns_have_no_dots(metric, column):
    assert column_of(metric) == column
    assert metric_of(column) == metric


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("cost_i.usd", "lower"),
        ("cost.tokens", "lower"),
        ("CG_per.usd", "higher"),
        ("CG_per_total.usd", "higher"),
        ("CG@tokens<=1000", "higher"),
    ],
)
def test_directions_of_cost_metrics(name, direction):
    assert metric_by_name(name).direction == direction


@pytest.mark.parametrize("name", ["cost.", "cost.a b", "cost.a__b", "costs.a", "RG@tokens<=10"])
def test_other_names_are_no_metrics(name):
    with pytest.raises(UsageError, match="Unknown"):
        metric_by_name(name)


def test_parses_and_names_budgets():
    found = parse_budgets(["tokens=1000,0.5", "usd=2", "tokens=0.5"])
    assert found == (Budget("tokens", 1000.0), Budget("tokens", 0.5), Budget("usd", 2.0))
    assert Budget("usd", 1000.0).metric("CG") == "CG@usd<=1000"
    assert Budget("usd", 0.05).metric("GR") == "GR@usd<=0.05"


@pytest.mark.parametrize(
    "text", ["", "tokens", "tokens=", "tokens=x", "=5", "to kens=5", "usd=0", "usd=-1", "usd=nan"]
)
def test_rejects_invalid_budgets(text):
    with pytest.raises(UsageError, match="is not a budget"):
        parse_budgets([text])
