"""Comparisons of clustered values: the formula of SPEC 6, edge cases, and coverage."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from goodgain.transforms.core.comparison.cluster_errors import error_of_difference, error_of_mean
from goodgain.transforms.core.comparison.paired_difference import compare_paired
from goodgain.transforms.core.comparison.unpaired_difference import compare_unpaired

QUERIES, REPEATS = 15, 4


def by_definition(values, codes):
    """(clusters, stderr) by the formula of SPEC 6."""
    groups = [[v for v, c in zip(values, codes, strict=True) if c == code] for code in set(codes)]
    mean, count = np.mean(values), len(groups)
    squares = sum((sum(group) - len(group) * mean) ** 2 for group in groups)
    return count, sqrt(count / (count - 1) * squares) / len(values)


pairs = st.lists(
    st.tuples(st.floats(0, 5), st.floats(0, 5), st.integers(0, 4)), min_size=2, max_size=20
)


@given(pairs, st.randoms(use_true_random=False))
def test_paired_comparison_follows_the_definition(rows, order):
    base, candidate, codes = map(np.array, zip(*rows, strict=True))
    found = compare_paired(base, candidate, codes=codes)
    if len(set(codes.tolist())) < 2:
        assert (found.clusters, found.stderr, found.p_value) == (1, None, None)
        assert found.note.startswith("one cluster has no interval and no test")
        return
    count, stderr = by_definition((candidate - base).tolist(), codes.tolist())
    assert found.clusters == count
    if stderr > 1e-11 * max(base.max(), candidate.max()):
        reach = stats.t.ppf(0.975, count - 1) * stderr
        assert (found.stderr, found.ci_low, found.ci_high, found.degrees_of_freedom) == (
            pytest.approx(
                (stderr, found.difference - reach, found.difference + reach, count - 1), rel=1e-6
            )
        )
        assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.t), count - 1))
    shuffled = list(rows)
    order.shuffle(shuffled)
    again = map(np.array, zip(*shuffled, strict=True))
    base, candidate, codes = again
    assert compare_paired(base, candidate, codes=codes) == found


def test_clusters_with_equal_differences_have_no_interval():
    codes = np.array([0, 0, 1, 1, 2, 2])
    alike = compare_paired([0.0] * 6, [1.0, -1.0, 2.0, -2.0, 0.0, 0.0], codes=codes)
    assert (alike.p_value, alike.ci_low, alike.clusters) == (1.0, None, 3)
    assert alike.note.startswith("no cluster differs on average")
    shifted = compare_paired([0.0] * 6, [1.0, 0.0, 0.5, 0.5, 0.2, 0.8], codes=codes)
    assert (shifted.p_value, shifted.ci_low) == (2.0**-2, None)
    assert shifted.note.startswith("every cluster differs by the same amount")


def test_effective_clusters_are_those_of_the_more_uneven_arm():
    """4^2 / (3^2 + 1) against 2; of pairs, those of the pairs."""
    uneven, even = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    values, others = [1.0, 2.0, 3.0, 5.0], [2.0, 2.0, 4.0, 7.0]
    assert compare_paired(values, others, codes=uneven).effective_clusters == 1.6
    assert compare_paired(values, others).effective_clusters is None
    for codes in ((uneven, even), (even, uneven), (uneven + 2, even)):
        assert compare_unpaired(values, others, codes=codes).effective_clusters == 1.6


def test_clusters_of_one_pair_have_the_ordinary_stderr():
    generator = np.random.default_rng(1)
    base, candidate = generator.normal(size=(2, 30))
    found = compare_paired(base, candidate, codes=np.arange(30))
    assert found.stderr == pytest.approx(stats.sem(candidate - base))


def test_samples_without_a_common_cluster_equal_welch():
    generator = np.random.default_rng(2)
    base, candidate = generator.normal(size=20), generator.normal(0, 3, size=9)
    found = error_of_difference(base, np.arange(20), candidate, np.arange(20, 29))
    welch = stats.ttest_ind(candidate, base, equal_var=False)
    assert (found.clusters, found.stderr, found.degrees_of_freedom) == (
        29,
        pytest.approx((candidate.mean() - base.mean()) / welch.statistic),
        pytest.approx(welch.df),
    )


def test_differences_between_clusters_in_both_arms_cancel_out():
    """With the same repeated queries in both arms, the stderr is that of paired repeats."""
    generator = np.random.default_rng(3)
    queries = np.repeat(np.arange(QUERIES), REPEATS)
    difficulty = generator.normal(0, 3, QUERIES)[queries]
    base = difficulty + generator.normal(size=queries.size)
    candidate = difficulty + generator.normal(size=queries.size)
    found = error_of_difference(base, queries, candidate, queries)
    paired = error_of_mean(candidate - base, queries)
    assert (found.clusters, found.stderr, found.degrees_of_freedom) == (
        QUERIES, pytest.approx(paired.stderr), QUERIES - 1,
    )  # fmt: skip
    shuffled = generator.permutation(queries.size)
    again = error_of_difference(base, queries, candidate[shuffled], queries[shuffled])
    assert again == found


def repeats(generator, samples, shift=0.0):
    """Differences of repeated queries; two thirds of their variance is between queries."""
    between = generator.normal(size=(samples, QUERIES, 1)) * sqrt(2 / 3)
    within = generator.normal(size=(samples, QUERIES, REPEATS)) * sqrt(1 / 3)
    return (between + within + shift).reshape(samples, -1)


def count_covered(found, true):
    return np.mean([estimate.ci_low <= true <= estimate.ci_high for estimate in found])


def test_paired_intervals_cover_repeats_only_with_clusters():
    codes = np.repeat(np.arange(QUERIES), REPEATS)
    base = np.zeros(codes.size)
    samples = repeats(np.random.default_rng(6), 600, 0.2)
    assert count_covered([compare_paired(base, sample) for sample in samples], 0.2) < 0.8
    assert (
        0.93
        <= count_covered([compare_paired(base, sample, codes=codes) for sample in samples], 0.2)
        <= 0.97
    )


def test_unpaired_intervals_cover_repeats_only_with_clusters():
    codes = np.repeat(np.arange(QUERIES), REPEATS)
    generator = np.random.default_rng(7)
    base, candidate = repeats(generator, 600), repeats(generator, 600, 0.2)
    arms = list(zip(base, candidate, strict=True))
    assert count_covered([compare_unpaired(*arm) for arm in arms], 0.2) < 0.8
    clustered = [compare_unpaired(*arm, codes=(codes, codes + QUERIES)) for arm in arms]
    assert 0.93 <= count_covered(clustered, 0.2) <= 0.97


def test_the_arm_with_fewer_clusters_limits_the_degrees_of_freedom():
    generator = np.random.default_rng(4)
    many, few = np.repeat(np.arange(9), 2), np.repeat(np.arange(4), 3)
    base, candidate = generator.normal(size=many.size), generator.normal(size=few.size)
    assert error_of_difference(base, many, candidate, few).degrees_of_freedom == 3
    assert error_of_difference(candidate, few, base, many).degrees_of_freedom == 3
