"""Scalars of NumPy, as in records from a data frame, as those of Python."""

from __future__ import annotations

import operator
from typing import Any


def plain_integer(value: Any) -> Any:
    """A NumPy integer, as in records from a data frame, as a Python one."""
    if type(value) in (int, bool) or not hasattr(value, "__index__"):
        return value
    try:
        return operator.index(value)
    except TypeError:  # an array
        return value


def plain_scalar(value: Any) -> Any:
    """A NumPy number or boolean, as in records from a data frame, as a Python one."""
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return value.item()
    return value
