"""Whether the agent does it again: how often repeats of a query pass conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from goodgain.pipeline.document.model import Block, Cell, Sentence, TableColumn, table
from goodgain.pipeline.document.numbers import (
    NONE,
    clipped_interval,
    count_text,
    mean_interval_text,
    value_text,
)
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.transforms.core.metrics.repeats import ALL, Repeats, parse_repeats

Row = Mapping[str, Any]


def repeats_part(rows: Mapping[str, Row], manifest: RunManifest) -> Iterator[Block]:
    """How often repeats pass: a line for each condition, a column for each kind of mean.

    Args:
      rows: the rows of `means` over all conversations at N, by metric.

    Yields:
      What it is about, and the table; nothing without any condition.
    """
    by_condition = _by_condition(rows)
    if not by_condition:
        return
    headings = _headings(by_condition.values())
    attribute = manifest.options.cluster
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


def repeats_by_slice(slices: Iterable[tuple[str, Mapping[str, Row]]]) -> Iterator[Block]:
    """How often repeats pass in each slice, for a page; nothing without slices or conditions.

    Args:
      slices: the name of each, and its rows of `means` at N by metric.
    """
    lines = [
        (name, condition, by_heading)
        for name, rows in slices
        for condition, by_heading in _by_condition(rows).items()
    ]
    if lines:
        # By default one k is the median size of the clusters, which may differ between slices.
        headings = _headings(by_heading for *_, by_heading in lines)
        yield table(
            (
                TableColumn("slice"),
                TableColumn("condition"),
                *(TableColumn(heading, right=True) for heading in headings),
            ),
            [
                (name, condition, *(_cell(by_heading.get(heading)) for heading in headings))
                for name, condition, by_heading in lines
            ],
            "How often repeats pass, by slice",
        )


def _by_condition(rows: Mapping[str, Row]) -> dict[str, dict[str, Row]]:
    """The rows of repeats by condition and heading, in the order in which they are shown."""
    found = [(repeats, row) for name, row in rows.items() if (repeats := parse_repeats(name))]
    # Of one repeat, at least one passes if all do.
    found = [repeats for repeats in found if (repeats[0].kind, repeats[0].k) != (ALL, 1)]
    by_condition: dict[str, dict[str, Row]] = {}
    for repeats, row in sorted(found, key=lambda pair: _place(pair[0])):
        by_condition.setdefault(str(repeats.condition), {})[_heading(repeats)] = row
    return by_condition


def _headings(of_conditions: Iterable[Mapping[str, Row]]) -> list[str]:
    """The headings of all conditions in their order."""
    found = {
        heading: parse_repeats(row["metric"])
        for of_condition in of_conditions
        for heading, row in of_condition.items()
    }
    return sorted(found, key=lambda heading: _place(found[heading]))


def _place(repeats: Repeats | None) -> tuple[bool, int, str]:
    if repeats is None:
        return True, 0, ""
    return repeats.k is None, repeats.k or 0, repeats.kind


def _heading(repeats: Repeats) -> str:
    return f"{repeats.kind}{repeats.k or ''}"


def _cell(row: Row | None) -> Cell:
    if row is None:
        return Cell(NONE, "mean")
    interval = mean_interval_text(row["metric"], *clipped_interval(row))
    below = f"{interval}, n {count_text(row['n'])}"
    return Cell(value_text(row["metric"], row["mean"]), "mean", below=(below,))
