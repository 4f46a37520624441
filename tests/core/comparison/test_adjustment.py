"""Holm's method against its derivation, and Benjamini and Hochberg's against scipy."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from goodgain.transforms.core.comparison.adjustment import adjust
from goodgain.transforms.core.errors import UsageError

P = st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.05, 1.0])


@given(st.lists(P, min_size=1, max_size=30))
def test_benjamini_hochberg_equals_scipy(p_values):
    assert adjust(p_values, "benjamini_hochberg") == pytest.approx(
        stats.false_discovery_control(p_values, method="bh").tolist(), rel=1e-9
    )


@given(st.lists(P, min_size=1, max_size=7))
def test_holm_is_the_closure_of_bonferroni(p_values):
    """A hypothesis is rejected if Bonferroni rejects all intersections with it (Marcus 1976)."""
    places = range(len(p_values))
    for at, adjusted in enumerate(adjust(p_values, "holm")):
        worst = max(
            min(1.0, len(subset) * min(p_values[place] for place in subset))
            for size in range(1, len(p_values) + 1)
            for subset in combinations(places, size)
            if at in subset
        )
        assert adjusted == pytest.approx(worst, rel=1e-9)


def test_worked_example():
    p_values = [0.04, None, 0.01, 0.03]
    assert adjust(p_values, "holm") == pytest.approx([0.06, None, 0.03, 0.06])
    assert adjust(p_values, "benjamini_hochberg") == pytest.approx([0.04, None, 0.03, 0.04])


@pytest.mark.parametrize("method", ["holm", "benjamini_hochberg"])
def test_a_missing_p_value_does_not_count_in_the_family(method):
    assert adjust([None, 0.02, None], method) == [None, 0.02, None]
    assert adjust([None], method) == [None]
    assert adjust([], method) == []


@pytest.mark.parametrize("p_value", [-0.1, 1.1, float("nan")])
def test_rejects_p_values_outside_0_to_1(p_value):
    with pytest.raises(UsageError, match="outside 0 to 1"):
        adjust([0.5, p_value], "holm")


def test_rejects_an_unknown_method():
    with pytest.raises(UsageError, match="'bonferroni'"):
        adjust([0.5], "bonferroni")
