"""How often tests find a difference: false positives without one, and power with one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import stats

from goodgain.transforms.core.comparison.adjustment import adjust
from goodgain.transforms.core.comparison.differences import ComparisonOptions
from goodgain.transforms.core.comparison.paired_difference import compare_paired
from goodgain.transforms.core.comparison.unpaired_difference import compare_unpaired
from tests.core.comparison import populations

pytestmark = pytest.mark.slow

LEVEL = 0.05
METRICS = 8
FAMILIES = 1500


def p_values(test, base, candidate):
    found = [test(*arms) for arms in zip(base, candidate, strict=True)]
    found = [getattr(test, "p_value", test) for test in found]
    return np.array([1.0 if p is None else p for p in found])


def at_most(level, repetitions):
    """The level plus three standard errors of a share over this number of repetitions."""
    return level + 3 * np.sqrt(level * (1 - level) / repetitions)


@cache
def families(seed, shifts):
    """p values by family and metric; metrics share conversations and are thus correlated."""
    generator = np.random.default_rng(seed)
    shared = generator.normal(size=(FAMILIES, 50))
    columns = []
    for shift in shifts:
        base, candidate = populations.normal(generator, FAMILIES, 50, shift)
        columns.append(p_values(compare_paired, base, candidate + shared * 0.5))
    return np.column_stack(columns)


@pytest.mark.parametrize(
    "population",
    [
        populations.normal,
        populations.precisions,
        populations.gains,
        populations.rare_changes,
    ],
)
def test_a_single_test_keeps_its_level(population):
    base, candidate = population(np.random.default_rng(5), 2000, 40)
    assert np.mean(p_values(compare_paired, base, candidate) <= LEVEL) <= at_most(LEVEL, 2000)


@pytest.mark.parametrize("method", ["holm", "benjamini_hochberg"])
def test_a_family_without_effects_seldom_has_a_positive(method):
    raw = families(6, (0.0,) * METRICS)
    adjusted = np.array([adjust(family.tolist(), method) for family in raw])
    assert np.mean(raw.min(axis=1) <= LEVEL) > 3 * LEVEL
    assert np.mean(adjusted.min(axis=1) <= LEVEL) <= at_most(LEVEL, FAMILIES)


def test_a_family_of_tied_metrics_without_effects_seldom_has_a_positive():
    generator = np.random.default_rng(8)
    raw = np.column_stack(
        [
            p_values(compare_paired, *population(generator, FAMILIES, 40))
            for population in (populations.precisions, populations.rare_changes) * 3
        ]
    )
    adjusted = np.array([adjust(family.tolist(), "holm") for family in raw])
    assert np.mean(adjusted.min(axis=1) <= LEVEL) <= at_most(LEVEL, FAMILIES)


def test_false_positives_stay_rare_among_true_effects():
    raw = families(7, (0.0,) * (METRICS // 2) + (0.6,) * (METRICS // 2))
    without_effect = np.arange(METRICS) < METRICS // 2
    holm = np.array([adjust(family.tolist(), "holm") for family in raw]) <= LEVEL
    hochberg = np.array([adjust(family.tolist(), "benjamini_hochberg") for family in raw]) <= LEVEL
    assert np.mean(holm[:, without_effect].any(axis=1)) <= at_most(LEVEL, FAMILIES)
    false_share = hochberg[:, without_effect].sum(axis=1) / np.maximum(hochberg.sum(axis=1), 1)
    assert false_share.mean() <= LEVEL + 3 * false_share.std() / np.sqrt(FAMILIES)
    assert hochberg[:, ~without_effect].mean() >= holm[:, ~without_effect].mean() > 0.5


@pytest.mark.parametrize(
    ("population", "shift"), [(populations.normal, 0.4), (populations.precisions, 0.04)]
)
def test_pairing_has_more_power_for_correlated_arms(population, shift):
    base, candidate = population(np.random.default_rng(9), 1500, 60, shift)
    paired = np.mean(p_values(compare_paired, base, candidate) <= LEVEL)
    unpaired = np.mean(p_values(compare_unpaired, base, candidate) <= LEVEL)
    assert paired > unpaired + 0.2


@pytest.mark.parametrize("n", [8, 20, 100])
@pytest.mark.parametrize("power", [0.8, 0.9])
def test_power_at_the_minimum_detectable_effect_by_the_noncentral_t(n, power):
    (base,), (candidate,) = populations.normal(np.random.default_rng(n), 1, n)
    options = ComparisonOptions(power=power, interval="student")
    comparison = compare_paired(base, candidate, options)
    noncentrality = comparison.minimum_detectable_effect / comparison.stderr
    critical = stats.t.ppf(0.975, n - 1)
    found = stats.nct.sf(critical, n - 1, noncentrality)
    assert found == pytest.approx(power, abs=0.015)


def typical_effect(test, base, candidate):
    """The minimum detectable effect for the standard deviation of the population."""
    effects = [test(*arms).minimum_detectable_effect for arms in zip(base, candidate, strict=True)]
    return float(np.sqrt(np.mean(np.square(effects))))


@pytest.mark.parametrize(
    ("population", "n"),
    [
        (populations.normal, 15),
        (populations.normal, 100),
        (populations.precisions, 200),
        (populations.rare_changes, 200),
    ],
)
def test_the_minimum_detectable_effect_is_detected_in_80_percent(population, n):
    generator = np.random.default_rng(80)
    effect = typical_effect(compare_paired, *population(generator, 500, n))
    base, candidate = population(generator, 2000, n)
    found = np.mean(p_values(compare_paired, base, candidate + effect) <= LEVEL)
    assert found == pytest.approx(0.8, abs=0.03)


def test_the_minimum_detectable_effect_of_two_samples_is_detected_in_80_percent():
    generator = np.random.default_rng(81)
    base, candidate = generator.normal(0, 1, (2000, 40)), generator.normal(0, 2, (2000, 70))
    effect = typical_effect(compare_unpaired, base[:500], candidate[:500])
    found = np.mean(p_values(compare_unpaired, base, candidate + effect) <= LEVEL)
    assert found == pytest.approx(0.8, abs=0.03)
