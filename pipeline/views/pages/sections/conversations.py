"""The section of a run's page about the conversations that are worth looking at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goodgain.pipeline.document.model import Heading, Sentence, TableBlock, facts, join_blocks
from goodgain.pipeline.document.numbers import count_text, short_text
from goodgain.pipeline.document.page import (
    Bar,
    Bars,
    BarsLegend,
    Beside,
    Item,
    Items,
    PageBlock,
    Section,
    section,
)
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.settings.explain_command import explain_command
from goodgain.pipeline.views.noteworthy import LONGEST_QUERY, Noteworthy
from goodgain.pipeline.views.pages.sections.section_parts import NOTHING, command_block
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.wording import format_count

Row = Mapping[str, Any]
_METRICS = ("SRE", "SRR", "CG", "R", "N", "iterations_after_last_good")
_LONGEST_ID = 80
_LONGEST_ATTRIBUTE = 40
_MOST_ATTRIBUTES = 8
_MOST_ITERATIONS = 40
_TOLD_ITERATIONS = 12  # in words, to readers who do not see the bars


def conversations_section(
    lists: Sequence[Noteworthy],
    iterations: Mapping[str, Sequence[Row]],
    queries: Mapping[str, str],
    manifest: RunManifest,
    searched: bool,
) -> Section:
    """The conversations that went worst.

    Args:
      iterations: their rows in the dataset `iterations` by id, in any order.
      queries: the first query of each, by id, as far as it is known.
      searched: whether any conversation did.
    """
    parameters = manifest.parameters
    groups = tuple(
        tuple(_group(noteworthy, iterations, queries, parameters)) for noteworthy in lists
    )
    return section(
        "conversations",
        "Worth looking at",
        "The conversations that went worst, each by one measure. Each bar is one search iteration, "
        "the first on the left; the command explains result by result how it was counted, and why.",
        [BarsLegend(), Beside(groups, "reasons")] if searched else NOTHING,
    )


def _group(
    of_metric: Noteworthy,
    iterations: Mapping[str, Sequence[Row]],
    queries: Mapping[str, str],
    parameters: Mapping[str, Any],
) -> Iterator[PageBlock]:
    yield Heading(of_metric.title)
    yield Sentence(of_metric.meaning, "quiet")
    if not of_metric.rows:
        yield Sentence("No such conversation.", "strong")
        return
    names = [row["conversation_id"] for row in of_metric.rows]
    yield Items(
        tuple(
            _item(row, iterations[name], queries.get(name), parameters)
            for name, row in zip(names, of_metric.rows, strict=True)
        )
    )


def _item(
    row: Row, iterations: Sequence[Row], query: str | None, parameters: Mapping[str, Any]
) -> Item:
    name = shorten(row["conversation_id"], _LONGEST_ID)
    attributes = _attributes(row["attributes"])
    return Item(
        name,
        join_blocks(
            Sentence(f'First query: "{shorten(query, LONGEST_QUERY)}"') if query else None,
            Sentence(attributes, "quiet") if attributes else None,
            None if row["R"] else Sentence("It found nothing."),
            _numbers(row),
            _bars(name, iterations),
            command_block(
                explain_command(row["conversation_id"], parameters),
                f"the command that explains {name}",
            ),
        ),
    )


def _numbers(row: Row) -> TableBlock:
    return facts((metric_by_name(name).label, short_text(name, row[name])) for name in _METRICS)


def _bars(name: str, iterations: Sequence[Row]) -> Iterator[PageBlock]:
    in_order = sorted(iterations, key=lambda row: int(row["i"]))
    shown = in_order[:_MOST_ITERATIONS]
    told = "; ".join(f"{row['i']}: {_results_text(row)}" for row in in_order[:_TOLD_ITERATIONS])
    more = "; and more" if len(in_order) > _TOLD_ITERATIONS else ""
    yield Bars(tuple(map(_bar, shown)), f"Iterations of {name}: {told}{more}.")
    if left_out := len(in_order) - len(shown):
        yield Sentence(f"and {format_count(left_out, 'more iteration')}", "quiet")


def _bar(row: Row) -> Bar:
    words = f"Iteration {row['i']} (raw {row['iteration']}): {_results_text(row)}"
    return Bar(*_results(row), f"{words}; gain {count_text(row['G_i'])}")


def _results(row: Row) -> tuple[int, int, int]:
    """The results of an iteration that are new and good, new and not good, and duplicates."""
    return row["GR_i"], row["UR_i"] - row["GR_i"], row["R_i"] - row["UR_i"]


def _results_text(row: Row) -> str:
    good, other, copies = map(count_text, _results(row))
    return f"{good} new good, {other} new other, {copies} duplicates"


def _attributes(attributes: Mapping[str, str]) -> str:
    words = [
        f"{shorten(name, _LONGEST_ATTRIBUTE)} = {shorten(value, _LONGEST_ATTRIBUTE)}"
        for name, value in sorted(attributes.items())[:_MOST_ATTRIBUTES]
    ]
    more = len(attributes) - len(words)
    return ", ".join(words) + (f" and {more:,} more" if more else "")
