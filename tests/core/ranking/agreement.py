"""Compare values of metrics, which may be undefined."""

from __future__ import annotations

from math import isclose


def disagreements(values, expected, rel=0.0, abs=0.0):
    """Values that differ, as name -> (value, expected); None only agrees with None."""
    assert values.keys() == expected.keys()
    return {
        name: (value, expected[name])
        for name, value in values.items()
        if not agree(value, expected[name], rel, abs)
    }


def agree(value, expected, rel=0.0, abs=0.0):
    """Whether both are undefined, or both are numbers within the tolerance."""
    if value is None or expected is None:
        return value is expected
    return isclose(value, expected, rel_tol=rel, abs_tol=abs)
