from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.pipeline.views.pages.data.histograms import Histograms, bins_for
from goodgain.pipeline.views.pages.data.slices import SliceMeans
from goodgain.transforms.core.metric import Metric

NUMBER = Metric("x", "gain", "", "higher", "", "")
WHOLE = Metric("x", "gain", "", "higher", "", "", whole=True)
finite = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(st.lists(finite, min_size=1), st.booleans())
def test_every_value_lies_in_its_bin(values, whole):
    values = [float(round(value)) for value in values] if whole else values
    lowest, highest = min(values), max(values)
    bins = bins_for(WHOLE if whole else NUMBER, lowest, highest)
    assert 1 <= bins.count <= 41
    tolerance = 1e-6 * bins.width + 1e-9 * max(abs(lowest), abs(highest))
    for value, at in zip(values, bins.of(np.array(values)), strict=True):
        assert 0 <= at < bins.count
        assert bins.start + at * bins.width - tolerance <= value
        assert value <= bins.start + (at + 1) * bins.width + tolerance


def test_few_whole_numbers_have_one_bin_each():
    bins = bins_for(WHOLE, 2, 6)
    assert bins.single
    assert bins.of(np.array([2.0, 3.0, 6.0])).tolist() == [0, 1, 4]


def test_bins_have_round_ends():
    bins = bins_for(NUMBER, 0.051, 0.449)
    assert (bins.start, bins.width) == (0.04, 0.02)
    assert bins_for(WHOLE, 3, 1000).width == 50


def test_a_value_between_two_bins_is_in_the_upper_one_despite_rounding():
    bins = bins_for(NUMBER, 0.0, 1.0)
    assert bins.width == pytest.approx(0.05)
    assert bins.of(np.array([0.15, 0.3, 1.0])).tolist() == [3, 6, 19]


values = st.one_of(st.none(), st.integers(0, 8))


@given(st.lists(st.tuples(values, st.sampled_from(["", "north", "south", "west"])), max_size=60))
def test_each_slice_counts_its_own_values(pairs):
    rows = [
        {"x": value, "attributes": {"market": market} if market else {}} for value, market in pairs
    ]
    extremes = {"x": {"min": 0.0, "max": 8.0}}
    slices = [
        SliceMeans({}, extremes),
        SliceMeans({"market": "north"}, extremes),
        SliceMeans({"market": ""}, extremes),
    ]
    histograms = Histograms([WHOLE], slices)
    for row in rows:
        histograms.add(row)
    for at, market in enumerate((None, "north", "")):
        expected = Counter(x for x, of in pairs if x is not None and market in (None, of))
        assert histograms.of_slice(at)["x"] == [expected[value] for value in range(9)]


def test_a_metric_without_values_has_no_histogram():
    one = SliceMeans({}, {"x": {"min": None, "max": None}})
    assert Histograms([NUMBER], [one]).of_slice(0) == {}
