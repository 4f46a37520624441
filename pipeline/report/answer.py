"""The result of a run in one or two sentences, for the top of its report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NO_SEARCH = "No conversation that searched could be evaluated."


def answer(means: Mapping[str, Mapping[str, Any]]) -> str:
    """Say how much was good, new and repeated, and how much gain came from how many iterations.

    Args:
      means: the rows of `means` of all conversations at N, by metric; may be empty.
    """
    by_metric = {name: row["mean"] for name, row in means.items()}
    repeated, iterations = by_metric.get("SRR"), by_metric.get("N")
    if repeated is None or iterations is None:
        return _NO_SEARCH
    good, gain = by_metric.get("SRE"), by_metric.get("CG")
    in_iterations = f"in {_one_decimal(iterations)} iterations"
    if good is None or gain is None:
        return (
            f"{_percent(repeated)} of the results repeated earlier ones. An agent searched "
            f"{in_iterations}; without labels its gain is unknown."
        )
    return (
        f"{_percent(good)} of the results were good and new; {_percent(repeated)} repeated earlier "
        f"ones. An agent gathered {_one_decimal(gain)} units of gain {in_iterations}."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _one_decimal(value: float) -> str:
    return f"{value:,.1f}"
