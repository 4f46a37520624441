"""Means of costs and of gain per cost: exact sums, ratios and clusters (SPEC 5, 6)."""

import math
import random

import msgspec
import numpy
import pytest
from scipy import stats

from goodgain.transforms.core.means import clusters as clusters_module
from goodgain.transforms.core.means.ratios import RatioSums, ratio_estimate
from goodgain.transforms.core.means.values import conversation_values
from tests.adversarial import trace
from tests.core.averaging import exact_rows, merge_randomly
from tests.core.direct import plan, score
from tests.core.scoring.test_costs import (
    BUDGET,
    BUDGETS,
    DEFAULT_RANKING,
    NAMES,
    means_of,
    with_costs,
)

PLAN = plan(DEFAULT_RANKING, 3, costs=NAMES, budgets=BUDGETS)


class TestRatioOfMeans:
    def test_equals_the_delta_method(self):
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

    def test_stderr_with_clusters_uses_their_totals(self):
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

    def test_intervals_cover_the_true_ratio(self):
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
    def test_is_undefined_without_costs(self, pairs):
        sums = RatioSums().add(pairs)
        row = ratio_estimate(sums, 0)
        note = "nothing was spent" if pairs else "no conversation has a value"
        assert (row.mean, row.stderr, row.ci_low, row.note) == (None, None, None, note)

    @pytest.mark.parametrize(
        ("pairs", "mean"),
        [
            ([(3, 1e-310)], None),
            ([(3, 5e-324), (1, 0.0)], None),
            ([(1, 1e-100), (1, 1e-100)], 1e100),
            ([(0, 5e-324), (0, 1e-320)], 0),
        ],
    )
    def test_costs_too_small_to_divide_by_have_no_ratio(self, pairs, mean):
        row = ratio_estimate(RatioSums().add(pairs), 0)
        assert row.mean == (pytest.approx(mean) if mean else mean)
        if mean is None:
            assert (row.stderr, row.ci_low) == (None, None)
            assert row.note == "too little was spent to divide by"

    @pytest.mark.parametrize("totals", [None, [(9, 1.35), (3, 0.45)]])
    def test_values_that_differ_by_rounding_errors_have_no_interval(self, totals):
        sums = RatioSums().add([(1, 0.1), (3, 0.3), (2, 0.2)])
        clusters = totals and RatioSums().add(totals)
        row = ratio_estimate(sums, 0, clusters)
        assert (row.ci_low, row.interval) == (None, None)
        assert row.note.endswith("so there is no interval")


def clustered_values(seed):
    """Conversations of a difficult trace with costs; some lack the attribute or did not search."""
    draw = random.Random(seed)
    found = []
    idle = [{"conversation_id": f"idle-{at}", "iteration": 1, "turn_count": 9} for at in range(5)]
    records = with_costs([*trace(draw, 30), *idle], seed)
    for conversation_score in score(
        records, cost=NAMES, budget=BUDGET, metrics=DEFAULT_RANKING
    ).values():
        attributes = {} if draw.random() < 0.2 else {"query": str(draw.randint(0, 5))}
        row = msgspec.structs.replace(
            conversation_score.conversation, attributes=attributes, rejected_records=0
        )
        conversation_score = msgspec.structs.replace(conversation_score, conversation=row)
        found.append((conversation_score, attributes.get("query") or object()))
    return found


def by_definition(clusters):
    """n, mean, stderr and number of clusters by the formulas of SPEC 6, from (cluster, value)."""
    groups = {}
    for cluster, value in clusters:
        groups.setdefault(cluster, []).append(value)
    n, count = len(clusters), len(groups)
    mean = sum(value for _, value in clusters) / n
    squares = sum((sum(group) - len(group) * mean) ** 2 for group in groups.values())
    return n, mean, math.sqrt(count / (count - 1) * squares) / n, count


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_intervals_by_clusters_follow_the_definition(seed):
    given = clustered_values(seed)
    means = means_of([scored for scored, _ in given], max_i=3, cluster="query")
    searched = [(scored, cluster) for scored, cluster in given if scored.conversation.N]
    assert len(searched) < len(given)
    for metric in ("cost.tokens", "CG_per.usd", "cost.milliseconds"):
        values = [(cluster, scored.conversation[metric]) for scored, cluster in searched]
        defined = [(cluster, value) for cluster, value in values if value is not None]
        row = means[metric, None, "all"]
        n, mean, stderr, count = by_definition(defined)
        assert (row.n, row.mean, row.clusters) == (n, pytest.approx(mean), count)
        assert row.stderr == pytest.approx(stderr)
        assert row.interval == "clusters"
    idle = [(cluster, 0.0) for scored, cluster in given if not scored.conversation.N]
    defined = [
        (cluster, value)
        for scored, cluster in searched
        if (value := scored.conversation["cost.tokens"]) is not None
    ]
    row = means["cost.tokens", None, "everyone"]
    n, mean, stderr, count = by_definition(defined + idle)
    assert (row.n, row.mean, row.clusters) == (n, pytest.approx(mean), count)
    assert row.stderr == pytest.approx(stderr)
    reached = [
        (cluster, value)
        for scored, cluster in searched
        if len(scored.iterations) > 1
        and (value := scored.iterations[1]["cost_i.tokens"]) is not None
    ]
    row = means["cost_i.tokens", 2, "reached"]
    assert (row.n, row.clusters) == (len(reached), len(dict(reached)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("population", ["all", "everyone"])
def test_ratio_of_means_by_clusters_equals_that_of_linearised_totals(seed, population):
    given = clustered_values(seed)
    means = means_of([scored for scored, _ in given], max_i=3, cluster="query")
    pairs = [
        (cluster, scored.conversation.CG, cost)
        for scored, cluster in given
        if (cost := scored.conversation["cost.tokens"]) is not None
    ]
    if population == "everyone":
        pairs += [(cluster, 0, 0.0) for scored, cluster in given if not scored.conversation.N]
    row = means["CG_per_total.tokens", None, population]
    ratio = sum(x for _, x, _ in pairs) / sum(y for _, _, y in pairs)
    # The mean of the linearised values is 0, so their stderr by clusters is that of SPEC 6.
    scale = sum(y for _, _, y in pairs) / len(pairs)
    n, _, stderr, count = by_definition([(c, (x - ratio * y) / scale) for c, x, y in pairs])
    assert (row.n, row.clusters, row.mean) == (n, count, pytest.approx(ratio))
    assert row.stderr == pytest.approx(stderr)
    reach = stats.t.ppf(0.975, count - 1) * stderr
    assert (row.ci_low, row.ci_high) == pytest.approx((ratio - reach, ratio + reach))


@pytest.mark.slow
def test_clustered_cost_means_are_the_same_bits_in_any_order_and_grouping():
    values = [conversation_values(value, PLAN, "query") for value, _ in clustered_values(2)]
    draw = random.Random(4)
    assert len({repr(exact_rows(merge_randomly(values, draw), PLAN)) for _ in range(5)}) == 1


def test_costs_have_no_interval_with_too_many_clusters(monkeypatch):
    monkeypatch.setattr(clusters_module, "MOST_CLUSTERS", 1)
    means = means_of([value for value, _ in clustered_values(1)], cluster="query")
    for metric in ("cost.tokens", "CG_per_total.tokens"):
        row = means[metric, None, "all"]
        assert (row.stderr, row.ci_low, row.interval) == (None, None, None)
        assert "more than" in row.note
