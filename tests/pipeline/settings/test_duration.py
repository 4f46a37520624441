import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.pipeline.settings.option_types import duration_text, parse_duration


@pytest.mark.parametrize(
    ("written", "millis"),
    [
        ("30m", 1_800_000),
        ("1d", 86_400_000),
        ("1h30m", 5_400_000),
        (" 2 H 5 s ", 7_205_000),
        ("250ms", 250),
        ("0s", 0),
    ],
)
def test_parses_numbers_with_units(written, millis):
    assert parse_duration(written) == millis


@pytest.mark.parametrize("written", ["", "30", "m", "1w", "-5m", "1.5h", "5m!", "PT5M"])
def test_rejects_other_forms(written):
    with pytest.raises(ValueError, match="must be a duration like 30m, 1d or 1h30m, not"):
        parse_duration(written)


def test_rejects_more_than_a_century():
    assert parse_duration("36500d") == 36_500 * 86_400_000
    with pytest.raises(ValueError, match="at most a century"):
        parse_duration("36501d")


@given(st.integers(0, 36_500 * 86_400_000))
def test_text_parses_to_the_same_duration(millis):
    assert parse_duration(duration_text(millis)) == millis
