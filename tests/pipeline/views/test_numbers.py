"""Formatting of values, differences and intervals in the tables of a comparison."""

import pytest

from goodgain.pipeline.document.numbers import difference_text, interval_text, value_text


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("SRE", 0.16912, "16.9 %"),
        ("SRE", 0.00123, "0.12 %"),
        ("SRE", 0.0000123, "1.2e-03 %"),
        ("SRE", 0.0, "0 %"),
        ("SRE", 1.0, "100 %"),
        ("mrr", 0.16912, "0.169"),  # ranking metrics are shares, but usually given as decimals
        ("CG", 27.1739, "27.17"),
        ("CG", 3, "3"),
        ("cost.tokens", 44834.0, "44,834"),
        ("CG_per.tokens", 0.00183, "0.0018"),
        ("map", 0.0397, "0.040"),
        ("map", -5e-17, "0"),
        ("SRE", None, "-"),
    ],
)
def test_a_value_is_in_the_unit_of_its_metric(metric, value, text):
    assert value_text(metric, value) == text


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("SRE", -0.02051, "-2.05 pp"),
        ("SRR", 0.3, "+30.0 pp"),
        ("mrr", -0.0101, "-0.010"),
        ("CG", -3.5973, "-3.597"),
        ("CG", None, "-"),
    ],
)
def test_a_difference_of_percentages_is_in_points(metric, value, text):
    assert difference_text(metric, value) == text


@pytest.mark.parametrize(
    ("metric", "low", "high", "text"),
    [
        ("SRE", -0.03092, -0.0105, "-3.09..-1.05"),
        ("SRR", 0.0775, 0.0998, "+7.75..+9.98"),
        ("mrr", -0.0351, 0.0131, "-0.035..+0.013"),
        ("CG", -4.736, -2.4841, "-4.736..-2.484"),
        ("CG", None, None, "-"),
    ],
)
def test_an_interval_is_in_the_unit_of_its_difference(metric, low, high, text):
    assert interval_text(metric, low, high) == text


def test_a_detectable_difference_has_no_sign():
    assert difference_text("SRE", 0.00971, signed=False) == "0.97 pp"
