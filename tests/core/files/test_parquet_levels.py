"""Levels are just those of a page's values, in runs of equal and of packed ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.files.parquet_levels import are_levels


def number(value):
    parts = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def equal(count, level, most):
    return number(count << 1) + level.to_bytes((most.bit_length() + 7) // 8, "little")


def pack(levels, most):
    groups = -(-len(levels) // 8)
    bits = sum(level << at * most.bit_length() for at, level in enumerate(levels))
    return number(groups << 1 | 1) + bits.to_bytes(groups * most.bit_length(), "little")


RUNS = st.lists(st.tuples(st.booleans(), st.integers(1, 300)), min_size=1, max_size=6)


@given(RUNS, st.integers(1, 300))
def test_runs_of_all_values_end_where_the_levels_end(runs, most):
    raw, values = b"", 0
    for at, (is_packed, count) in enumerate(runs):
        # Only the last group of packed levels may have more of them than values.
        count += -count % 8 if is_packed and at < len(runs) - 1 else 0
        levels = [(count + each) % (most + 1) for each in range(count)]
        raw += pack(levels, most) if is_packed else equal(count, levels[0], most)
        values += count
    assert are_levels(raw, most, values)
    assert not are_levels(raw[:-1], most, values)
    assert not are_levels(raw + b"\0", most, values)
    assert not are_levels(raw, most, values + 8)


@pytest.mark.parametrize(
    ("raw", "most", "values"),
    [
        (b"\x02\x00", 0, 1),  # a column without such levels has none
        (b"\x02\x00", 1, 0),
        (b"", 1, 1),
        (b"\x00\x00\x02\x01", 1, 1),  # an empty run
        (b"\x06\x01", 1, 2),  # three equal levels of two values
        (b"\x80", 1, 1),  # a number that breaks off
        (b"\x02", 1, 1),
    ],
)
def test_other_bytes_are_no_levels(raw, most, values):
    assert not are_levels(raw, most, values)


@pytest.mark.parametrize(
    ("most", "values"), [(0, 5), (0, 0), (1, 0)], ids=["no levels", "nothing", "no values"]
)
def test_no_bytes_where_there_are_no_levels(most, values):
    assert are_levels(b"", most, values)
