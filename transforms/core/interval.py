"""The kinds of intervals for means and differences (SPEC 6)."""

from typing import Literal

Interval = Literal["hall", "student"]
