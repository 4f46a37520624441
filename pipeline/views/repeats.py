"""Whether the agent does it again: how often repeats of a query pass conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goodgain.pipeline.document.model import Block, Cell, Sentence, table
from goodgain.pipeline.document.numbers import NONE, count_text, mean_interval_text, value_text
from goodgain.transforms.core.metrics.repeats import ALL, Repeats, parse_repeats

Row = Mapping[str, Any]


def repeats_part(rows: Mapping[str, Row], manifest: Mapping[str, Any]) -> Iterator[Block]:
    """How often repeats pass: a line for each condition, a column for each kind of mean.

    Args:
      rows: the rows of `means` over all conversations at N, by metric.

    Yields:
      What it is about, and the table; nothing without any condition.
    """
    found = [(repeats, row) for name, row in rows.items() if (repeats := parse_repeats(name))]
    # Of one repeat, at least one passes if all do.
    found = [one for one in found if (one[0].kind, one[0].k) != (ALL, 1)]
    if not found:
        return
    found.sort(key=lambda one: _place(one[0]))
    headings = tuple(dict.fromkeys(_heading(repeats) for repeats, _ in found))
    by_condition: dict[str, dict[str, Row]] = {}
    for repeats, row in found:
        by_condition.setdefault(str(repeats.condition), {})[_heading(repeats)] = row
    attribute = manifest["parameters"].get("cluster")
    yield Sentence(
        f"Repeats by {attribute}: in pass@k at least one of k repeats passes, in pass^k all do; "
        "flip_rate is the share of clusters where some pass and some do not. Each cluster weighs "
        "the same.",
        apart=True,
    )
    yield table(
        ("condition", *headings),
        [
            (condition, *(_cell(by_heading.get(heading)) for heading in headings))
            for condition, by_heading in by_condition.items()
        ],
        "How often repeats pass, with 95 % intervals",
    )


def _place(repeats: Repeats) -> tuple[bool, int, str]:
    return repeats.k is None, repeats.k or 0, repeats.kind


def _heading(repeats: Repeats) -> str:
    return f"{repeats.kind}{repeats.k or ''}"


def _cell(row: Row | None) -> Cell:
    if row is None:
        return Cell(NONE, "mean")
    interval = mean_interval_text(row["metric"], row["ci_low"], row["ci_high"])
    below = f"{interval}, n {count_text(row['n'])}"
    return Cell(value_text(row["metric"], row["mean"]), "mean", below=(below,))
