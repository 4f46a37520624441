"""How numbers are shown, in every medium."""

import pytest

from goodgain.pipeline.document.numbers import (
    data_text,
    difference_text,
    fixed,
    fixed_interval,
    interval_text,
    level,
    mean_interval_text,
    mean_text,
    number,
    probability,
    relative,
    share,
    share_text,
    value_text,
)
from goodgain.pipeline.views.pages.data.texts import round_value


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("SRE", 0.16912, "16.9 %"),
        ("SRE", 0.00123, "0.12 %"),
        ("SRE", 0.0000123, "0.0012 %"),
        ("SRE", 0.0, "0 %"),
        ("SRE", 1.0, "100 %"),
        ("mrr", 0.16912, "0.169"),  # ranking metrics are shares, but usually given as decimals
        ("CG", 27.1739, "27.17"),
        ("CG", 3, "3"),
        ("cost.tokens", 44834.0, "44,834"),
        ("CG_per.tokens", 0.00183, "0.00183"),
        ("map", 0.0397, "0.0397"),
        ("cost.usd", 0.0000123, "0.0000123"),
        ("cost.usd", 1.234e-7, "1.23e-07"),
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


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"), (0.0, "0"), (0.16149, "0.161"), (0.0013, "0.00130"), (0.00013, "0.000130"),
        (-4e-5, "-0.0000400"), (-5.6e-17, "0"), (-0.0, "0"), (-3.6140, "-3.614"),
        (30.3158, "30.32"), (123.456, "123.5"), (12345.6, "12,346"), (1_234_567, "1,234,567"),
    ],
)  # fmt: skip
def test_a_number_has_about_four_digits_and_a_count_all(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("n", "undefined", "text"),
    [(10, 90, "1.000 over only 10 of 100"), (50, 50, "1.000"), (4, 5, "1.000"), (100, 0, "1.000")],
)
def test_a_mean_over_less_than_half_says_so(n, undefined, text):
    assert mean_text("map", 1.0, n, undefined) == text


def test_the_interval_of_a_mean_is_clipped_and_has_its_unit_once():
    assert mean_interval_text("SRE", -0.02, 0.182) == "0..18.2 %"
    assert mean_interval_text("auc", -0.5, 1.5) == "0..1.000"
    assert mean_interval_text("CG", 25.9794, 34.8308) == "25.98..34.83"
    assert mean_interval_text("CG", None, None) == "-"


def test_a_relative_difference_is_a_signed_percentage():
    assert [relative(value) for value in (-0.0361, 11.111, 5.6e-17, None)] == [
        "-3.6 %", "+1,111.1 %", "+0.0 %", "-",
    ]  # fmt: skip


def test_a_probability_is_never_shown_as_zero():
    assert [probability(value) for value in (0.0, 0.00099, 0.0499, 1.0, None)] == [
        "<0.001", "<0.001", "0.050", "1.000", "-",
    ]  # fmt: skip


def test_a_share_of_zero_is_a_dash():
    assert (share(1, 4), share(0, 0)) == ("25.0 %", "-")


def test_data_of_pages_keep_six_digits_and_null():
    assert (round_value(123.4567891), round_value(None)) == (123.457, None)


@pytest.mark.parametrize(
    ("value", "shown"), [(-0.0, "0"), (-5.6e-17, "0"), (-0.25, "-0.25"), (1e-9, "1e-09")]
)
def test_rounding_errors_are_shown_as_0(value, shown):
    assert data_text(value) == shown


def test_a_chosen_share_has_no_zeros_at_its_end():
    assert [level(value) for value in (0.95, 0.07, 1, 0.999, 0.9999583)] == [
        "95 %", "7 %", "100 %", "99.9 %", "99.9958 %",
    ]  # fmt: skip
    assert level(0.123456, digits=4) == "12.35 %"
    assert level(0.02, unit="pp") == "2 pp"


def test_small_numbers_have_two_decimals():
    assert [fixed(value) for value in (0.5, 1, -0.001, None)] == ["0.50", "1.00", "0.00", "-"]
    assert [fixed(value, signed=True) for value in (0.5, -0.001)] == ["+0.50", "+0.00"]
    assert fixed_interval(0.25, 0.75) == "0.25..0.75"
    assert fixed_interval(-1, 1, signed=True) == "-1.00..+1.00"
    assert fixed_interval(None, 1) == fixed_interval(0, None) == "-"


def test_no_value_is_one_dash_everywhere():
    shown = (number(None), share(1, 0), share_text(None), relative(None), probability(None))
    assert set(shown) == {"-"}
