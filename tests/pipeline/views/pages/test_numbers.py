import pytest

from goodgain.pipeline.document.numbers import number as terminal_number
from goodgain.pipeline.views.pages.numbers import (
    change,
    difference,
    number,
    probability,
    relative,
    rounded,
    share,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "\N{EN DASH}"),
        (0.0, "0.000"),
        (0.16149, "0.161"),
        (0.0013, "0.00130"),
        (0.00013, "1.3e-4"),
        (-4e-5, "-4.0e-5"),
        (-5.6e-17, "0.000"),
        (-3.6140, "-3.614"),
        (30.3158, "30.32"),
        (123.456, "123.5"),
        (12345.6, "12,346"),
    ],
)
def test_number_has_about_four_digits(value, text):
    assert number(value) == text


def test_counts_are_printed_in_full():
    assert number(1_234_567, whole=True) == "1,234,567"


def test_share_of_zero_is_a_dash():
    assert (share(1, 4), share(0, 0)) == ("25.0 %", "\N{EN DASH}")


def test_rounding_keeps_six_digits_and_null():
    assert (rounded(123.4567891), rounded(None)) == (123.457, None)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "\N{EN DASH}"),
        (0.0, "0"),
        (-0.98431, "-0.984"),
        (0.0131599, "+0.0132"),
        (0.0049, "+0.00490"),
        (-0.0000204, "-2.0e-5"),
        (12.345, "+12.3"),
        (-12345.6, "-12,346"),
    ],
)
def test_difference_has_three_significant_digits(value, text):
    assert difference(value) == text


def test_relative_difference_is_a_signed_percentage():
    assert [relative(value) for value in (-0.0361, 1.111, 0.0, None)] == [
        "-3.6 %",
        "+111.1 %",
        "+0.0 %",
        "\N{EN DASH}",
    ]


def test_probability_is_never_printed_as_zero():
    assert [probability(value) for value in (0.0, 0.00099, 0.0499, 1.0, None)] == [
        "< 0.001",
        "< 0.001",
        "0.050",
        "1.000",
        "\N{EN DASH}",
    ]


@pytest.mark.parametrize("value", [-0.0, -5.6e-17])
def test_rounding_errors_are_printed_as_zero(value):
    assert number(value) == "0.000"
    assert terminal_number(value) == "0.0000"


@pytest.mark.parametrize("value", [0.0, -0.0, -5.6e-17, 5.6e-17])
def test_rounding_errors_are_printed_as_no_difference(value):
    assert difference(value) == "0"
    assert relative(value) == "+0.0 %"


def test_changes_of_shares_are_in_percentage_points():
    assert change(-0.00131, is_share=True) == "-0.13 points"
    assert change(0.0976, is_share=True) == "+9.76 points"
    assert change(-1e-15, is_share=True) == "0 points"
    assert change(None, is_share=True) == "\N{EN DASH}"
    assert change(-3.4184) == "-3.42"
