"""The difference that a gate can detect, given the repeats of a run (SPEC 6)."""

from math import sqrt

import numpy as np
import pytest

from goodgain.pipeline.repeats import detectable
from goodgain.transforms.core.comparison import compare_paired, compare_unpaired

QUERIES, REPEATS, RUNS = 40, 5, 600
BETWEEN, WITHIN = 1.5, 1.0  # standard deviations
CODES = np.repeat(np.arange(QUERIES), REPEATS)
# Two standard errors of a share of RUNS are 3.3 points.
POWER = pytest.approx(0.8, abs=0.045)


def row(between=BETWEEN, within=WITHIN):
    """A row of `means` with the values that simulated runs have on the average."""
    n, variance = QUERIES * REPEATS, between**2 + within**2
    return {
        "n": n,
        "clusters": QUERIES,
        "stddev": sqrt(variance),
        "stderr": sqrt(between**2 / QUERIES + within**2 / n),
        "intraclass_correlation": between**2 / variance,
    }


def run_of(generator, queries, shift=0.0):
    return np.repeat(queries, REPEATS) + generator.normal(shift, WITHIN, CODES.size)


def test_runs_of_other_queries_find_the_difference_in_80_percent():
    generator = np.random.default_rng(1)
    _, difference = detectable(row())
    found = 0
    for _ in range(RUNS):
        base, candidate = generator.normal(0, BETWEEN, (2, QUERIES))
        arms = run_of(generator, base), run_of(generator, candidate, difference)
        found += compare_unpaired(*arms, codes=(CODES, CODES + QUERIES)).p_value <= 0.05
    assert found / RUNS == POWER


def test_runs_paired_by_query_find_a_smaller_difference_in_80_percent():
    generator = np.random.default_rng(2)
    difference, of_other_queries = detectable(row())
    assert difference < of_other_queries / 2
    found = 0
    for _ in range(RUNS):
        queries = generator.normal(0, BETWEEN, QUERIES)
        arms = run_of(generator, queries), run_of(generator, queries, difference)
        by_query = (arm.reshape(QUERIES, REPEATS).mean(axis=1) for arm in arms)
        found += compare_paired(*by_query).p_value <= 0.05
    assert found / RUNS == POWER


def test_less_spread_between_queries_than_by_chance_counts_as_none():
    """An estimate below 0 must not promise less than the whole spread allows."""
    paired, _ = detectable({**row(between=0.0), "intraclass_correlation": -0.2})
    assert paired == detectable(row(between=0.0))[0]


@pytest.mark.parametrize("unknown", [{"clusters": None}, {"clusters": 1}, {"stderr": None}])
def test_without_clusters_nothing_is_known(unknown):
    assert detectable({**row(), **unknown}) == (None, None)
