"""Times are those that Python 3.11's `datetime.fromisoformat` reads, in every version of Python."""

import sys
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goodgain.transforms.core.records.iso_time import parse_time

DATES = ("2024-03-01", "20240301", "2024-W09-5", "2024W095", "2024-W09", "2024W09", "2024-061")
SEPARATORS = (*"T t-5:é😀\0", "")
CLOCKS = ("10", "24", "10:00", "1000", "10:00:00", "100000", "10:59:60", "10:0000", "")
FRACTIONS = ("", ".", ",5", ".25", ".1234567", ".123456x", ":5", "x", "5", "25", "é")
OFFSETS = ("", "Z", "+01:00", "-0130", "+24:00", "+00:99", "-00:00:00.5", "+01:00:30.5", "+01x")
times = st.tuples(*map(st.sampled_from, (DATES, SEPARATORS, CLOCKS, FRACTIONS, OFFSETS)))
near_times = times.map("".join) | st.text(alphabet="0123459TW:-+.Z ", min_size=7, max_size=24)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # in every form
        ("2024-03-01", "2024-03-01T00:00:00+00:00"),
        ("20240301", "2024-03-01T00:00:00+00:00"),
        ("2024-W09-5", "2024-03-01T00:00:00+00:00"),
        ("2024W09", "2024-02-26T00:00:00+00:00"),
        ("2024-03-01T10", "2024-03-01T10:00:00+00:00"),
        ("2024-03-01 10:30z ", "2024-03-01T10:30:00+00:00"),
        ("20240301T103005,25-0130", "2024-03-01T10:30:05.250000-01:30"),
        ("2024-03-01_10:30:05.1234567+01:00:30", "2024-03-01T10:30:05.123456+01:00:30"),
        # of a week: what follows is the day, or a separator and the time
        ("2024-W09-10:30", "2024-02-26T10:30:00+00:00"),
        ("2024-W09-5-10:30", "2024-03-01T10:30:00+00:00"),
        ("2024W09510", "2024-02-26T10:00:00+00:00"),
        ("2024W095510", "2024-03-01T10:00:00+00:00"),
        # what only some releases read or refuse
        ("2024-03-01T24:00", None),
        ("2024-03-01T24:00:00Z", None),
        ("2024-03-01T10:30 +01:00", "2024-03-01T10:30:00+01:00"),
        ("2024-03-01T10:30:00.Z", "2024-03-01T10:30:00+00:00"),
        ("2024-03-01T10:30+00:90", "2024-03-01T10:30:00+01:30"),
        ("2024-03-01T10:30:00.123456 UT+01:00", "2024-03-01T10:30:00.123456+01:00"),
        ("2024-03-01T10:30+00:00:00.5", "2024-03-01T10:30:00+00:00"),
        # no such time
        ("2024-02-30", None),
        ("2024-W53", None),
        ("2024-03-01T10:60", None),
        ("2024-03-01T10:30+23:60", None),
        # no time
        ("2024-03-01T", None),
        ("2024-0301", None),
        ("2024-03-01T10:30:0", None),
        ("2024-03-01T10:30:00.", None),
        ("2024-03-01T10:30:00.5x+01:00", None),
        ("2024-03-01T10:30ZZ", None),
        ("2024-03-01T10:30+01:00 ", "2024-03-01T10:30:00+01:00"),
        ("2024-03-01T10:30+01:00x", None),
        ("\u0662024-03-01", None),
    ],
)
def test_times(text, expected):
    found = parse_time(text)
    assert (None if found is None else found.isoformat()) == expected


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="other versions read other texts")
@given(near_times)
@example("2024-03-01T10:00:00.12345\n+01:00")
def test_any_text_is_read_as_by_python_3_11(text):
    if text[-1:] in ("Z", "z"):
        text = text[:-1] + "+00:00"
    try:
        expected = datetime.fromisoformat(text.strip())
    except ValueError:
        expected = None
    if expected is not None and expected.tzinfo is None:
        expected = expected.replace(tzinfo=UTC)
    found = parse_time(text)
    assert (found and found.isoformat()) == (expected and expected.isoformat())
