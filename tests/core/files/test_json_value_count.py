"""Counting the values of a line gives the same as reading it byte by byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.files import json_value_count
from goodgain.transforms.core.files.json_value_count import has_more_values


def plain_count(line):
    values, in_text, escaped = 0, False, False
    for byte in line:
        if in_text:
            in_text = escaped or byte != ord('"')
            escaped = not escaped and byte == ord("\\")
        elif byte == ord('"'):
            in_text = True
        else:
            values += byte in b",{["
    return values


@given(st.lists(st.sampled_from([b'"', b"\\", b",", b"{", b"[", b"]", b"a", b"\n"]), max_size=60))
def test_values_are_counted_exactly(pieces):
    line = b"".join(pieces)
    count = plain_count(line)
    # Repeated, as many values are matched at once; texts may span the repetitions.
    long = line * 1000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_value_count, "HARMLESS", 0)
        for text, values in ((line, count), (long, plain_count(long))):
            assert has_more_values(text, values - 1) is (values > 0)
            assert not has_more_values(text, values)


def test_values_of_a_short_line_are_not_counted():
    assert not has_more_values(b"[" * 100, 1)
