"""The bound on the values of a long line."""

from goodgain.transforms.core.files.json_value_count import HARMLESS, has_more_values


def test_the_separators_of_a_long_line_bound_its_values():
    line = b'{"a": [1, {"b": "x, y"}]}' + b" " * HARMLESS
    values = 3 + 2  # brackets and commas, of which one is in a text
    assert has_more_values(line, values - 1)
    assert not has_more_values(line, values)


def test_values_of_a_short_line_are_not_counted():
    assert not has_more_values(b"[" * 100, 1)
