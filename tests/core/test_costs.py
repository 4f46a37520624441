"""What conversations cost, and what they gained for it (SPEC 5)."""

import math
import random

import msgspec
import numpy
import pytest
from scipy import stats

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.means import clusters as clusters_module
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.costs import CostSums, RatioSums, ratio_estimate
from goodgain.transforms.core.means.values import conversation_values
from goodgain.transforms.core.scoring.costs import (
    Budget,
    column_of,
    cost_metric,
    metric_of,
    parse_budget,
)
from tests.adversarial import trace
from tests.core.direct import score, score_one
from tests.reference import costs as reference

NAMES = ("milliseconds", "tokens", "usd")
BUDGETS = tuple(Budget("tokens", limit) for limit in (1.0, 10.0, 25.0, 1000.0))

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


def means_of(scores, max_i=4, cluster=None):
    accumulator = MeansAccumulator.empty(None, max_i)
    for one in scores:
        accumulator.add(conversation_values(one, ("ndcg@10", "mrr"), max_i, cluster))
    return {(row.metric, row.i, row.population): row for row in accumulator.rows({}, NO_RANKING)}


NO_RANKING = ("ndcg@10", "mrr")


class TestThreeIterations:
    def scored(self, budgets=()):
        return score_one(by_hand(), costs=("tokens", "usd"), budgets=budgets)

    def test_iterations(self):
        assert [row.costs for row in self.scored().iterations] == [
            {
                "cost_i.tokens": 100,
                "cost_at_i.tokens": 100,
                "cost_i.usd": 0.5,
                "cost_at_i.usd": 0.5,
            },
            {
                "cost_i.tokens": 200,
                "cost_at_i.tokens": 300,
                "cost_i.usd": None,  # its second call does not tell
                "cost_at_i.usd": None,
            },
            {
                "cost_i.tokens": 300,
                "cost_at_i.tokens": 600,
                "cost_i.usd": 0.25,
                "cost_at_i.usd": None,
            },
        ]

    def test_conversation(self):
        row = self.scored().conversation
        assert row.CG == 11
        assert row.costs == {
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
            (100 / (1 + 9e-10), 5, 2, True),  # a sum may exceed by so much
            (299, 5, 2, True),
            (300, 9, 3, True),
            (600, 11, 4, True),
            (600 * (1 + 9e-10), 11, 4, True),
            (601, 11, 4, False),
        ],
    )
    def test_budgets(self, limit, gain, good, reached):
        found = self.scored((Budget("tokens", limit), Budget("usd", 1.0))).budgets
        assert [(at.value, at.reached) for at in found[:2]] == [(gain, reached), (good, reached)]
        assert [(at.value, at.reached) for at in found[2:]] == [(None, False)] * 2

    def test_means(self):
        other = by_hand("d", [{"iteration": 1, "costs": {"tokens": 50}, "results": [("a", 3)]}])
        scores = score(
            by_hand() + other, costs=("tokens", "usd"), budgets=(Budget("tokens", 300.0),)
        )
        means = means_of(scores.values())
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

    def test_who_did_not_search_has_spent_nothing_where_everyone_counts(self):
        other = by_hand("d", [{"iteration": 1, "costs": {"tokens": 50}, "results": [("a", 3)]}])
        idle = {"conversation_id": "e", "iteration": 1, "turn_count": 2}
        how = {"costs": ("tokens",), "budgets": (Budget("tokens", 300.0),)}
        means = means_of(score([*by_hand(), *other, idle], **how).values())
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
        row = score_one([record], costs=("tokens",), budgets=BUDGETS).conversation
        assert row.costs == {"cost.tokens": None, "CG_per.tokens": None}

    def test_nothing_spent_has_no_ratio(self):
        records = by_hand(records=[{"iteration": 1, "costs": {"tokens": 0}, "results": [("a", 3)]}])
        row = score_one(records, costs=("tokens",)).conversation
        assert row.costs == {"cost.tokens": 0, "CG_per.tokens": None}

    def test_not_asked_for_there_are_none(self):
        found = score_one(by_hand())
        assert (found.conversation.costs, found.iterations[0].costs) == ({}, {})
        assert conversation_values(found, NO_RANKING, 3).costs is None


def with_costs(records, seed):
    """Records with costs of which some are missing, zero or not exact in binary."""
    draw = random.Random(seed)
    costs = []
    for record in records:
        told = {
            name: draw.choice([0, 0.1, 0.7, 3, 10, 1e6 / 7])
            for name in NAMES
            if draw.random() < 0.93
        }
        costs.append({**record, "costs": told})
    return costs


@pytest.mark.parametrize("seed", range(40))
def test_costs_are_those_of_the_reference(seed):
    records = with_costs(trace(random.Random(seed), 5), seed)
    scores = score(records, costs=NAMES, budgets=BUDGETS)
    for name, found in scores.items():
        own = [record for record in records if record["conversation_id"] == name]
        rows = reference.costs_of(own, NAMES)
        assert [row.costs for row in found.iterations] == rows
        assert found.conversation.costs == reference.at_end(rows, found.conversation.CG, NAMES)
        for at, budget in enumerate(BUDGETS):
            for place, measure in enumerate(("CG_at_i", "GR_at_i")):
                gains = [getattr(row, measure) for row in found.iterations]
                expected = reference.at_budget(rows, gains, budget.cost, budget.limit)
                told = found.budgets[2 * at + place]
                assert (told.value, told.reached) == expected


@pytest.mark.parametrize("seed", range(5))
def test_no_order_changes_costs(seed):
    records = with_costs(trace(random.Random(seed), 8), seed)
    expected = score(records, costs=NAMES, budgets=BUDGETS)
    draw = random.Random(seed)
    for _ in range(3):
        draw.shuffle(records)
        again = score(records, costs=NAMES, budgets=BUDGETS)
        for name, one in expected.items():
            assert again[name].conversation.costs == one.conversation.costs
            assert again[name].iterations == one.iterations
            assert again[name].budgets == one.budgets


class TestRatioOfMeans:
    def test_is_that_of_the_delta_method(self):
        draw = numpy.random.default_rng(5)
        x, y = draw.poisson(7, 50), draw.gamma(3, 100, 50)
        sums = RatioSums().add(zip(x.tolist(), y.tolist(), strict=True))
        ratio = x.sum() / y.sum()
        stderr = (x - ratio * y).std(ddof=1) / math.sqrt(50) / y.mean()
        assert sums.ratio == pytest.approx(ratio, rel=1e-14)
        assert sums.stderr == pytest.approx(stderr, rel=1e-12)
        row = ratio_estimate(sums, 2)
        assert (row.mean, row.stderr, row.n, row.undefined) == (sums.ratio, sums.stderr, 50, 2)
        half = stats.t.ppf(0.975, 49) * stderr
        assert row.ci_low == pytest.approx(ratio - half, rel=1e-12)
        assert row.ci_high == pytest.approx(ratio + half, rel=1e-12)

    def test_clusters_are_as_many_conversations_of_their_totals(self):
        """Totals 5 for 30 and 4 for 20, ratio 9/50: residuals -0.4 and 0.4."""
        pairs = [(2, 10.0), (3, 20.0), (4, 20.0)]
        totals = RatioSums().add([(5, 30.0), (4, 20.0)])
        row = ratio_estimate(RatioSums().add(pairs), 0, totals)
        assert (row.n, row.clusters, row.interval) == (3, 2, "clusters")
        assert (row.mean, row.stderr) == (0.18, pytest.approx(math.sqrt(2 * 0.32) / 50))
        assert row.ci_high - 0.18 == pytest.approx(stats.t.ppf(0.975, 1) * row.stderr)

    def test_any_grouping_gives_the_same_bits(self):
        draw = random.Random(8)
        pairs = [(draw.randrange(30), draw.choice([0.1, 1e9 / 3, 7e-5])) for _ in range(60)]
        whole = RatioSums().add(pairs)
        for _ in range(10):
            draw.shuffle(pairs)
            cut = draw.randrange(61)
            parts = [RatioSums().add(pairs[:cut]), RatioSums().add(pairs[cut:])]
            assert parts[0].merge(parts[1]) == whole == parts[1].merge(parts[0])
            one_by_one = RatioSums()
            for pair in pairs:
                one_by_one = one_by_one.merge(RatioSums().add([pair]))
            assert one_by_one == whole

    def test_intervals_cover(self):
        draw = numpy.random.default_rng(11)
        covered = 0
        for _ in range(400):
            y = draw.gamma(4, 100, 80)
            x = draw.poisson(y * 0.03)
            sums = RatioSums().add(zip(x.tolist(), y.tolist(), strict=True))
            row = ratio_estimate(sums, 0)
            covered += row.ci_low <= 0.03 <= row.ci_high
        assert 0.92 <= covered / 400 <= 0.975

    @pytest.mark.parametrize("pairs", [[], [(3, 0.0), (1, 0.0)]])
    def test_nothing_spent_has_none(self, pairs):
        sums = RatioSums().add(pairs)
        row = ratio_estimate(sums, 0)
        note = "nothing was spent" if pairs else "no conversation has a value"
        assert (row.mean, row.stderr, row.ci_low, row.note) == (None, None, None, note)

    @pytest.mark.parametrize("totals", [None, [(9, 1.35), (3, 0.45)]])
    def test_what_only_rounding_spreads_has_no_interval(self, totals):
        sums = RatioSums().add([(1, 0.1), (3, 0.3), (2, 0.2)])
        clusters = totals and RatioSums().add(totals)
        row = ratio_estimate(sums, 0, clusters)
        assert (row.ci_low, row.interval) == (None, None)
        assert row.note.endswith("so there is no interval")


def test_sums_of_costs_merge_to_the_same_bits():
    scores = list(
        score(with_costs(trace(random.Random(3), 30), 3), costs=NAMES, budgets=BUDGETS).values()
    )
    values = [conversation_values(one, NO_RANKING, 5) for one in scores]
    costs = [one.costs for one in values if one is not None and one.costs is not None]
    whole = CostSums().add(costs)
    draw = random.Random(1)
    for _ in range(5):
        draw.shuffle(costs)
        cut = draw.randrange(len(costs))
        assert CostSums().add(costs[cut:]).merge(CostSums().add(costs[:cut])) == whole


def clustered_values(seed):
    """Conversations of a hard trace with costs, of which some lack the attribute or a search."""
    draw = random.Random(seed)
    found = []
    idle = [{"conversation_id": f"idle-{at}", "iteration": 1, "turn_count": 9} for at in range(5)]
    records = with_costs([*trace(draw, 30), *idle], seed)
    for one in score(records, costs=NAMES, budgets=BUDGETS, metrics=NO_RANKING).values():
        attributes = {} if draw.random() < 0.2 else {"query": str(draw.randint(0, 5))}
        row = msgspec.structs.replace(one.conversation, attributes=attributes, rejected_records=0)
        one = msgspec.structs.replace(one, conversation=row)
        found.append((one, attributes.get("query") or object()))
    return found


def by_definition(clusters):
    """n, mean, stderr and clusters of (cluster, value), as SPEC 6 has them."""
    groups = {}
    for cluster, value in clusters:
        groups.setdefault(cluster, []).append(value)
    n, count = len(clusters), len(groups)
    mean = sum(value for _, value in clusters) / n
    squares = sum((sum(one) - len(one) * mean) ** 2 for one in groups.values())
    return n, mean, math.sqrt(count / (count - 1) * squares) / n, count


@pytest.mark.parametrize("seed", range(4))
def test_intervals_by_clusters_are_those_of_the_definition(seed):
    given = clustered_values(seed)
    means = means_of([one for one, _ in given], max_i=3, cluster="query")
    searched = [(one, cluster) for one, cluster in given if one.conversation.N]
    assert len(searched) < len(given)
    for metric in ("cost.tokens", "CG_per.usd", "cost.milliseconds"):
        told = [(cluster, one.conversation.costs[metric]) for one, cluster in searched]
        told = [(cluster, value) for cluster, value in told if value is not None]
        row = means[metric, None, "all"]
        n, mean, stderr, count = by_definition(told)
        assert (row.n, row.mean, row.clusters) == (n, pytest.approx(mean), count)
        assert row.stderr == pytest.approx(stderr)
        assert row.interval == "clusters"
    idle = [(cluster, 0.0) for one, cluster in given if not one.conversation.N]
    told = [
        (cluster, value)
        for one, cluster in searched
        if (value := one.conversation.costs["cost.tokens"]) is not None
    ]
    row = means["cost.tokens", None, "everyone"]
    n, mean, stderr, count = by_definition(told + idle)
    assert (row.n, row.mean, row.clusters) == (n, pytest.approx(mean), count)
    assert row.stderr == pytest.approx(stderr)
    reached = [
        (cluster, value)
        for one, cluster in searched
        if len(one.iterations) > 1
        and (value := one.iterations[1].costs["cost_i.tokens"]) is not None
    ]
    row = means["cost_i.tokens", 2, "reached"]
    assert (row.n, row.clusters) == (len(reached), len(dict(reached)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("population", ["all", "everyone"])
def test_ratio_of_means_by_clusters_is_that_of_linearised_totals(seed, population):
    given = clustered_values(seed)
    means = means_of([one for one, _ in given], max_i=3, cluster="query")
    pairs = [
        (cluster, one.conversation.CG, cost)
        for one, cluster in given
        if (cost := one.conversation.costs["cost.tokens"]) is not None
    ]
    if population == "everyone":
        pairs += [(cluster, 0, 0.0) for one, cluster in given if not one.conversation.N]
    row = means["CG_per_total.tokens", None, population]
    ratio = sum(x for _, x, _ in pairs) / sum(y for _, _, y in pairs)
    # The linearised values have the mean 0, so that their stderr by clusters is that of SPEC 6.
    scale = sum(y for _, _, y in pairs) / len(pairs)
    n, _, stderr, count = by_definition([(c, (x - ratio * y) / scale) for c, x, y in pairs])
    assert (row.n, row.clusters, row.mean) == (n, count, pytest.approx(ratio))
    assert row.stderr == pytest.approx(stderr)
    reach = stats.t.ppf(0.975, count - 1) * stderr
    assert (row.ci_low, row.ci_high) == pytest.approx((ratio - reach, ratio + reach))


def test_clusters_of_costs_are_the_same_bits_in_any_order_and_grouping():
    values = [conversation_values(one, NO_RANKING, 3, "query") for one, _ in clustered_values(2)]
    draw = random.Random(4)
    told = set()
    for _ in range(5):
        draw.shuffle(values)
        cut = draw.randrange(len(values))
        one, other = (MeansAccumulator.empty(None, 3) for _ in range(2))
        for at, value in enumerate(values):
            (one if at < cut else other).add(value)
        other.compact()
        one.merge(msgspec.msgpack.decode(msgspec.msgpack.encode(other), type=MeansAccumulator))
        told.add(repr(one.rows({}, NO_RANKING)))
    assert len(told) == 1


def test_with_more_clusters_than_are_kept_costs_have_no_interval(monkeypatch):
    monkeypatch.setattr(clusters_module, "MOST_CLUSTERS", 1)
    means = means_of([one for one, _ in clustered_values(1)], cluster="query")
    for metric in ("cost.tokens", "CG_per_total.tokens"):
        row = means[metric, None, "all"]
        assert (row.stderr, row.ci_low, row.interval) == (None, None, None)
        assert "more than" in row.note


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
def test_columns_of_avro_have_no_dots(metric, column):
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
        ("CG", None),
        ("cost.", None),
        ("cost.a b", None),
        ("ndcg@10", None),
        ("RG@tokens<=10", None),
    ],
)
def test_what_is_declared(name, direction):
    metric = cost_metric(name)
    assert (metric and metric.direction) == direction


def test_budgets_are_read():
    assert parse_budget("tokens=1000,0.5") == (Budget("tokens", 1000.0), Budget("tokens", 0.5))
    assert Budget("usd", 1000.0).metric("CG") == "CG@usd<=1000"
    assert Budget("usd", 0.05).metric("GR") == "GR@usd<=0.05"


@pytest.mark.parametrize(
    "text", ["", "tokens", "tokens=", "tokens=x", "=5", "to kens=5", "usd=0", "usd=-1", "usd=nan"]
)
def test_what_is_no_budget(text):
    with pytest.raises(UsageError, match="is no budget"):
        parse_budget(text)
