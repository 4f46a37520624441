"""Correction of p values for the number of tests in a family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from goodgain.transforms.core.errors import UsageError

AdjustmentMethod = Literal["holm", "benjamini_hochberg"]


def adjust(p_values: Sequence[float | None], method: AdjustmentMethod) -> list[float | None]:
    """The adjusted p values of one family of tests.

    A hypothesis is rejected at a level if its adjusted p value is below that level.

    `holm` (Holm 1979) bounds the probability of any false positive in the family under any
    dependence; `benjamini_hochberg` (Benjamini and Hochberg 1995) bounds the expected share of
    false positives among the positives if tests are independent or positively dependent.

    Args:
      p_values: None if a test was not possible; it stays None and is not part of the family.

    Raises:
      UsageError: a p value outside [0, 1], or an unknown method.
    """
    import numpy as np  # imported here, since the options of a comparison name the methods

    if method not in ("holm", "benjamini_hochberg"):
        raise UsageError(f"There is no correction {method!r}: use holm or benjamini_hochberg.")
    tested = [index for index, p in enumerate(p_values) if p is not None]
    family = np.array([p_values[index] for index in tested], dtype=np.float64)
    if not np.all((family >= 0) & (family <= 1)):
        raise UsageError("A p value is outside 0 to 1: pass null if a test was not possible.")
    order = np.argsort(family, kind="stable")
    ascending, n = family[order], family.size
    if method == "holm":  # p times the number of hypotheses not yet rejected, made monotone
        corrected = np.maximum.accumulate(ascending * np.arange(n, 0, -1))
    else:  # p times family size / rank, made monotone
        corrected = np.minimum.accumulate((ascending * n / np.arange(1, n + 1))[::-1])[::-1]
    adjusted: list[float | None] = [None] * len(p_values)
    for place, p in zip(order.tolist(), corrected.tolist(), strict=True):
        adjusted[tested[place]] = min(p, 1.0)
    return adjusted
