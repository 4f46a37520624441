"""AUC with its intervals: by hand, by definition over all pairs, scikit-learn, and coverage."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from goodgain.transforms.core.means.auc import Auc, delong, obuchowski

Z = stats.norm.ppf(0.975)
RUNS, N = 2_000, 100


def wins(one, zero):
    return Fraction(1, 2) if one == zero else Fraction(int(one > zero))


def by_definition(conversations):
    """(AUC, variance by Obuchowski) of (cluster, class, value), straight from the papers.

    With each conversation a cluster of its own this is DeLong's variance.
    """
    ones = [(cluster, value) for cluster, class_, value in conversations if class_]
    zeros = [(cluster, value) for cluster, class_, value in conversations if not class_]
    m, n = len(ones), len(zeros)
    auc = sum(wins(x, y) for (_, x), (_, y) in product(ones, zeros)) / (m * n)
    clusters = {cluster for cluster, *_ in conversations}

    def deviation(of, others, swapped):
        total = dict.fromkeys(clusters, Fraction(0))
        for cluster, value in of:
            pairs = [(other, value) if swapped else (value, other) for _, other in others]
            total[cluster] += sum(wins(*pair) for pair in pairs) / len(others) - auc
        return total

    v10, v01 = deviation(ones, zeros, False), deviation(zeros, ones, True)
    i10, i01, i = (len({c for c, _ in of}) for of in (ones, zeros, ones + zeros))
    if i10 < 2 or i01 < 2:
        return auc, None
    s10 = Fraction(i10, (i10 - 1) * m) * sum(v10[c] ** 2 for c in clusters)
    s01 = Fraction(i01, (i01 - 1) * n) * sum(v01[c] ** 2 for c in clusters)
    s11 = Fraction(i, i - 1) * sum(v10[c] * v01[c] for c in clusters)
    return auc, s10 / m + s01 / n + 2 * s11 / (m * n)


def delong_of(conversations):
    ones = Counter(value for _, class_, value in conversations if class_)
    zeros = Counter(value for _, class_, value in conversations if not class_)
    return delong(ones, zeros)


def obuchowski_of(conversations):
    numbers = {}
    for cluster, *_ in conversations:
        numbers.setdefault(cluster, len(numbers))
    return obuchowski(
        [value for *_, value in conversations],
        [class_ for _, class_, _ in conversations],
        [numbers[cluster] for cluster, *_ in conversations],
    )


def test_delong_by_hand():
    # Right answers gathered 5, 3 and 1, wrong ones 3 and 0. Of the six pairs right beats wrong
    # in 5-3, 5-0, 3-0 and 1-0, and ties in 3-3: (4 + 1/2) / 6 = 0.75. Placements of the right
    # ones: 1, 3/4, 1/2, variance 1/16; of the wrong ones 1/2 and 1, variance 1/8.
    # 1/16 / 3 + 1/8 / 2 = 1/12, whose root is 0.288675. Logit(0.75) = log 3 = 1.098612, and
    # 1.959964 * 0.288675 / (0.75 * 0.25) = 3.017562: logits from -1.918950 to 4.116174.
    found = delong({5: 1, 3: 1, 1: 1}, {3: 1, 0: 1})
    assert found.value == 0.75
    assert found.stderr == pytest.approx(sqrt(1 / 12))
    assert (found.low, found.high) == pytest.approx((0.127979, 0.983955), abs=1e-6)
    assert found.clusters is found.note is None


def test_obuchowski_by_hand():
    # The same values; clusters a = {right 5, wrong 3} and b = {right 3, right 1, wrong 0}.
    # Deviations of placements from 0.75: right 1/4 | 0 - 1/4, wrong -1/4 | 1/4.
    # S10 = 2 / (1 * 3) * (1/16 + 1/16) = 1/12, S01 = 2 / (1 * 2) * 1/8 = 1/8,
    # S11 = 2 * (-1/16 - 1/16) = -1/4: 1/36 + 1/16 - 2 * 1/4 / 6 = 1/144. With one degree of
    # freedom 12.706205 * (1/12) / (0.75 * 0.25) = 5.647202 about log 3.
    found = obuchowski_of([("a", 1, 5), ("b", 1, 3), ("b", 1, 1), ("a", 0, 3), ("b", 0, 0)])
    assert found.value == 0.75
    assert found.clusters == 2
    assert found.stderr == pytest.approx(1 / 12)
    assert (found.low, found.high) == pytest.approx((0.010471, 0.998826), abs=1e-6)


values = st.integers(-3, 3).map(float) | st.floats(-5, 5)
labelled = st.tuples(st.sampled_from("abcd"), st.integers(0, 1), values)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(labelled, max_size=25), st.booleans())
def test_equals_definition_and_scikit_learn(conversations, clustered):
    if not clustered:
        conversations = [(at, class_, value) for at, (_, class_, value) in enumerate(conversations)]
    found = obuchowski_of(conversations) if clustered else delong_of(conversations)
    classes = [class_ for _, class_, _ in conversations]
    if len(set(classes)) < 2:
        assert found.value is None
        assert found.note
        return
    auc, variance = by_definition(conversations)
    assert found.value == pytest.approx(float(auc), abs=1e-12)
    assert found.value == pytest.approx(
        roc_auc_score(classes, [value for *_, value in conversations]), abs=1e-12
    )
    if variance is None:
        assert found.stderr is None
    else:
        assert found.stderr == pytest.approx(sqrt(max(variance, 0)), abs=1e-8)
        assert (found.low is None) == (found.note is not None) == (variance <= 1e-18)


@settings(max_examples=50, deadline=None)
@given(st.lists(labelled, max_size=25))
def test_clusters_of_one_are_independent(conversations):
    apart = [(at, class_, value) for at, (_, class_, value) in enumerate(conversations)]
    one, other = delong_of(apart), obuchowski_of(apart)
    assert one.value == pytest.approx(other.value, abs=1e-12)
    assert one.stderr == pytest.approx(other.stderr, abs=1e-9)


@given(st.lists(labelled, min_size=2, max_size=25), st.randoms())
def test_order_changes_no_bit(conversations, random):
    shuffled = list(conversations)
    random.shuffle(shuffled)
    assert delong_of(shuffled) == delong_of(conversations)


@settings(max_examples=50, deadline=None)
@given(st.lists(labelled, max_size=25))
def test_an_interval_lies_within_0_to_1_and_mirrors_that_of_the_swapped_classes(conversations):
    found = obuchowski_of(conversations)
    swapped = obuchowski_of(
        [(cluster, 1 - class_, value) for cluster, class_, value in conversations]
    )
    if found.low is not None:
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert (1 - swapped.high, 1 - swapped.low) == pytest.approx((found.low, found.high))


def test_separated_values_have_no_interval():
    assert delong({2: 3}, {1: 3}) == Auc(1.0, 0.0, note=delong({2: 3}, {1: 3}).note)
    assert delong({2: 1}, {1: 3}).low is None


def count_covered(intervals, true):
    return np.mean(
        [
            interval.low is not None and interval.low <= true <= interval.high
            for interval in intervals
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("ones", [50, 30])
@pytest.mark.parametrize("auc", [0.6, 0.8])
def test_delong_covers(auc, ones):
    random = np.random.default_rng(1988)
    above = random.normal(sqrt(2) * stats.norm.ppf(auc), 1, (RUNS, ones)).tolist()
    below = random.normal(0, 1, (RUNS, N - ones)).tolist()
    runs = zip(above, below, strict=True)
    intervals = [delong(Counter(run), Counter(zero)) for run, zero in runs]
    assert 0.93 <= count_covered(intervals, auc) <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("auc", [0.6, 0.8])
def test_obuchowski_covers_where_delong_is_too_narrow(auc, size):
    # Clusters of conversations that share half of the variance and mostly their outcome.
    random = np.random.default_rng(1997)
    groups, shape = N // size, (RUNS, N)
    clusters = np.repeat(np.arange(groups), size)
    shared = random.random((RUNS, groups)) < 0.5
    classes = shared.repeat(size, axis=1) ^ (random.random(shape) < 0.2)
    values = random.normal(0, sqrt(0.5), (RUNS, groups)).repeat(size, axis=1)
    values = values + random.normal(0, sqrt(0.5), shape)
    values += classes * sqrt(2) * stats.norm.ppf(auc)
    runs = list(zip(values, classes.astype(int), strict=True))
    clustered = [obuchowski(value, class_, clusters) for value, class_ in runs]
    assert 0.93 <= count_covered(clustered, auc) <= 0.97
    independent = [
        delong(Counter(value[class_ == 1].tolist()), Counter(value[class_ == 0].tolist()))
        for value, class_ in runs
    ]
    assert count_covered(independent, auc) < count_covered(clustered, auc) - 0.01


def test_on_its_own_scale_the_interval_is_too_narrow():
    """What the logit is for: 30 of 100 right, AUC 0.9."""
    random = np.random.default_rng(2003)
    above = random.normal(sqrt(2) * stats.norm.ppf(0.9), 1, (RUNS, 30)).tolist()
    below = random.normal(0, 1, (RUNS, 70)).tolist()
    found = [delong(Counter(ones), Counter(zero)) for ones, zero in zip(above, below, strict=True)]
    plain = np.mean([abs(estimate.value - 0.9) <= Z * estimate.stderr for estimate in found])
    assert plain < 0.93 <= count_covered(found, 0.9) <= 0.97
