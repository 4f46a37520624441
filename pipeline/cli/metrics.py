"""`goodgain metrics`: what can be computed, what it means and when it is undefined (SPEC 5, 8)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from goodgain.pipeline.cli.shared_options import add_json_option
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.ranking import FAMILIES, GAUC, GAUC_WEIGHTED, Family
from goodgain.transforms.core.scoring.costs import COST_METRICS
from goodgain.transforms.core.scoring.registry import (
    CONVERSATION_METRICS,
    ITERATION_METRICS,
    POOL_ITERATION_METRICS,
    POOL_METRICS,
)

Groups = list[tuple[str, list[Metric]]]

NAME = "metrics"
HELP = "list every metric with its unit, meaning and formula"
EXAMPLE = "goodgain metrics"

_CONVERSATION = "of a conversation, at N"
_ITERATION = "of an iteration, and up to it"
_POOL = "of the topic's pool; with --pool"
_RANKING = "of the ranked list; chosen with --metrics"
_COSTS = "of costs, for each NAME that calls have; within a budget B with --budget"
_SUFFIXES = {"none": "", "cutoff": "[@k]", "persistence": ".p"}
_IN_JSON = (
    "name", "label", "unit", "direction", "meaning", "caution", "undefined", "formula", "bounded",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the filter and `--json`."""
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="only metrics whose name contains one of these"
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the metrics."""
    from goodgain.pipeline.document.console import print_json

    groups = _matching(metric_groups(), args.words)
    if args.json:
        print_json(
            [
                {"group": group, **{name: getattr(metric, name) for name in _IN_JSON}}
                for group, metrics in groups
                for metric in metrics
            ]
        )
    else:
        _print_tables(groups)
    return 0


def _matching(groups: Groups, words: Sequence[str]) -> Groups:
    """Only the metrics whose names contain one of the words; all if there are no words."""
    if not words:
        return groups
    # `ndcg@10` finds `ndcg[@k]`.
    parts = [word.partition("@")[0].lower() for word in words]
    matching = [
        (group, [one for one in metrics if any(part in one.name.lower() for part in parts)])
        for group, metrics in groups
    ]
    if not any(metrics for _, metrics in matching):
        raise UsageError(f"No metric is called {' or '.join(words)}; see `goodgain metrics`.")
    return [(group, metrics) for group, metrics in matching if metrics]


def metric_groups() -> Groups:
    """All metrics by what they describe, each group with its name."""
    ranking = [_declared(family) for family in FAMILIES.values()]
    return [
        (_CONVERSATION, list(CONVERSATION_METRICS)),
        (_ITERATION, list(ITERATION_METRICS)),
        (_POOL, [*POOL_METRICS, *POOL_ITERATION_METRICS]),
        (_RANKING, [*ranking, GAUC, GAUC_WEIGHTED]),
        (_COSTS, list(COST_METRICS)),
    ]


def _declared(family: Family) -> Metric:
    """A family as one metric: its name shows where a cutoff or a persistence goes."""
    undefined = family.undefined
    if undefined and family.undefined_at_k == "":
        undefined += ", without @k"
    own = ("unit", "meaning", "direction", "formula", "whole", "bounded", "words")
    return Metric(
        name=family.name + _SUFFIXES[family.argument],
        undefined=undefined,
        **{name: getattr(family, name) for name in own},
    )


def _print_tables(groups: Groups) -> None:
    from rich.text import Text

    from goodgain.pipeline.document.console import on_terminal, plain_table, result_console

    console = result_console()
    for group, metrics in groups:
        table = plain_table()
        table.add_column("metric", max_width=on_terminal(20), overflow="fold")
        table.add_column("unit", max_width=on_terminal(10))
        table.add_column("better")
        table.add_column("meaning, formula, when null")
        for metric in metrics:
            meaning = Text(f"{metric.words}. " if metric.words else "", style="bold")
            meaning.append(metric.explained, style="not bold")
            meaning.append(f"\n= {metric.formula}", style="dim")
            if metric.undefined:
                meaning.append(f"\nnull: {metric.undefined}", style="dim")
            if metric.bounded:
                meaning.append("\nbounds: worst and best", style="dim")
            better = "" if metric.direction == "neither" else metric.direction
            table.add_row(Text(metric.name, style="bold"), metric.unit, better, meaning)
        console.print(Text(f"\nMetrics {group}", style="bold"))
        console.print(table)
