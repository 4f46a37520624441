"""The difference that a gate can detect, given the repeats of a run (SPEC 6)."""

from math import sqrt

import numpy as np
import pytest

from goodgain.pipeline.views.clusters import estimate_detectable_differences
from goodgain.transforms.core.comparison.paired_difference import compare_paired
from goodgain.transforms.core.comparison.unpaired_difference import compare_unpaired
from goodgain.transforms.core.means.cluster_variance import ClusterVariance

QUERIES, REPEATS, RUNS = 40, 5, 600
BETWEEN, WITHIN = 1.5, 1.0  # standard deviations
CODES = np.repeat(np.arange(QUERIES), REPEATS)
# Two standard errors of a share of RUNS are 3.3 points.
POWER = pytest.approx(0.8, abs=0.045)


def row(between=BETWEEN, within=WITHIN):
    """A row of `means` with the values that simulated runs have on average."""
    n = QUERIES * REPEATS
    return {
        "clusters": QUERIES,
        "stderr": sqrt(between**2 / QUERIES + within**2 / n),
        "stderr_within": sqrt(within**2 / n),
    }


def run_of(generator, queries, shift=0.0):
    return np.repeat(queries, REPEATS) + generator.normal(shift, WITHIN, CODES.size)


def test_unpaired_runs_detect_the_difference_in_80_percent():
    generator = np.random.default_rng(1)
    _, difference = estimate_detectable_differences(row())
    found = 0
    for _ in range(RUNS):
        base, candidate = generator.normal(0, BETWEEN, (2, QUERIES))
        arms = run_of(generator, base), run_of(generator, candidate, difference)
        found += compare_unpaired(*arms, codes=(CODES, CODES + QUERIES)).p_value <= 0.05
    assert found / RUNS == POWER


def test_runs_paired_by_query_detect_a_smaller_difference_in_80_percent():
    generator = np.random.default_rng(2)
    difference, unpaired_difference = estimate_detectable_differences(row())
    assert difference < unpaired_difference / 2
    found = 0
    for _ in range(RUNS):
        queries = generator.normal(0, BETWEEN, QUERIES)
        arms = run_of(generator, queries), run_of(generator, queries, difference)
        by_query = (arm.reshape(QUERIES, REPEATS).mean(axis=1) for arm in arms)
        found += compare_paired(*by_query).p_value <= 0.05
    assert found / RUNS == POWER


@pytest.mark.parametrize("repeats", [(4, 4, 4, 4, 4), (1, 1, 2, 5, 9), (1, 1, 1, 1, 16)])
def test_unequal_repeats_detect_what_the_run_before_says(repeats):
    """Pairs by query weigh each query the same, so the ones with few repeats count most."""
    generator = np.random.default_rng(3)
    sizes = np.array(repeats * 10)
    starts = np.cumsum(sizes) - sizes
    found = 0
    for _ in range(RUNS):
        queries = np.repeat(generator.normal(0, BETWEEN, sizes.size), sizes)
        base, candidate = queries + generator.normal(0, WITHIN, (2, queries.size))
        totals = np.add.reduceat(base, starts)
        between = ClusterVariance.of(zip(sizes.tolist(), totals.tolist(), strict=True))
        printed, _ = estimate_detectable_differences(
            {
                "clusters": between.clusters,
                "stderr": between.stderr,
                "stderr_within": between.stderr_within(float(base.var(ddof=1))),
            }
        )
        by_query = (np.add.reduceat(arm, starts) / sizes for arm in (base, candidate + printed))
        found += compare_paired(*by_query).p_value <= 0.05
    assert found / RUNS == POWER


def test_two_queries_computed_by_hand():
    """t is 12.7062 and 1.3764 with 1 degree of freedom, and 4.3027 and 1.0607 with 2."""
    paired, unpaired = estimate_detectable_differences(
        {"clusters": 2, "stderr": 3.0, "stderr_within": 0.5}
    )
    assert paired == pytest.approx((12.7062 + 1.3764) * sqrt(2) * 0.5, rel=1e-4)
    assert unpaired == pytest.approx((4.3027 + 1.0607) * sqrt(2) * 3, rel=1e-4)


@pytest.mark.parametrize("unknown", [{"clusters": None}, {"clusters": 1}, {"stderr": None}])
def test_no_difference_without_clusters(unknown):
    assert estimate_detectable_differences({**row(), **unknown}) == (None, None)
