import pytest

from pipeline.report.numbers import number, rounded, share


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "\N{EN DASH}"),
        (0.0, "0.000"),
        (0.16149, "0.161"),
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


def test_share_of_nothing_is_a_dash():
    assert (share(1, 4), share(0, 0)) == ("25.0 %", "\N{EN DASH}")


def test_rounding_keeps_six_digits_and_null():
    assert (rounded(123.4567891), rounded(None)) == (123.457, None)
