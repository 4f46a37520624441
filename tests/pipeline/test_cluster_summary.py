"""The difference that a gate can detect, given the repeats of a run (SPEC 6)."""

from math import sqrt

import numpy as np
import pytest

from goodgain.pipeline.cluster_summary import detectable
from goodgain.transforms.core.comparison import compare_paired, compare_unpaired

QUERIES, REPEATS, RUNS = 40, 5, 600
BETWEEN, WITHIN = 1.5, 1.0  # standard deviations
CODES = np.repeat(np.arange(QUERIES), REPEATS)
# Two standard errors of a share of RUNS are 3.3 points.
POWER = pytest.approx(0.8, abs=0.045)


def row(between=BETWEEN, within=WITHIN):
    """A row of `means` with the values that simulated runs have on average."""
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


def test_unpaired_runs_detect_the_difference_in_80_percent():
    generator = np.random.default_rng(1)
    _, difference = detectable(row())
    found = 0
    for _ in range(RUNS):
        base, candidate = generator.normal(0, BETWEEN, (2, QUERIES))
        arms = run_of(generator, base), run_of(generator, candidate, difference)
        found += compare_unpaired(*arms, codes=(CODES, CODES + QUERIES)).p_value <= 0.05
    assert found / RUNS == POWER


def test_runs_paired_by_query_detect_a_smaller_difference_in_80_percent():
    generator = np.random.default_rng(2)
    difference, unpaired_difference = detectable(row())
    assert difference < unpaired_difference / 2
    found = 0
    for _ in range(RUNS):
        queries = generator.normal(0, BETWEEN, QUERIES)
        arms = run_of(generator, queries), run_of(generator, queries, difference)
        by_query = (arm.reshape(QUERIES, REPEATS).mean(axis=1) for arm in arms)
        found += compare_paired(*by_query).p_value <= 0.05
    assert found / RUNS == POWER


def test_negative_intraclass_correlation_counts_as_zero():
    """An estimate below 0 must not make the detectable difference smaller."""
    paired, _ = detectable({**row(between=0.0), "intraclass_correlation": -0.2})
    assert paired == detectable(row(between=0.0))[0]


@pytest.mark.parametrize("unknown", [{"clusters": None}, {"clusters": 1}, {"stderr": None}])
def test_no_difference_without_clusters(unknown):
    assert detectable({**row(), **unknown}) == (None, None)
