"""A table for people: how the verdicts of a comparison depend on policies."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from goodgain.pipeline.cli.compare_cells import COLOURS, p_text
from goodgain.pipeline.comparison.rows import SensitivityRow
from goodgain.pipeline.terminal.console import on_terminal, plain_table
from goodgain.pipeline.terminal.metric_values import difference_text, interval_text
from goodgain.transforms.core.comparison.adjustment import AdjustmentMethod
from goodgain.transforms.core.scoring.metric_by_name import labels, metric_by_name


def render_sensitivity(
    rows: Sequence[SensitivityRow], console: Console, correction: AdjustmentMethod
) -> None:
    """Print for each metric the difference under every policy, and which verdicts change.

    Args:
      correction: the method whose corrected p value decides the verdicts.
    """
    console.print(Text("\nUnder other policies, all conversations, at N", "bold"))
    table = plain_table()
    table.add_column("metric", max_width=on_terminal(20), overflow="fold")
    table.add_column("policy", no_wrap=True)
    for heading in ("diff.", "interval", "p adj."):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for metric in dict.fromkeys(row.metric for row in rows):
        of_metric = [row for row in rows if row.metric == metric]
        for position, row in enumerate(of_metric):
            verdict = Text(row.verdict, style=COLOURS.get(row.verdict, ""))
            table.add_row(
                Text(metric_by_name(metric).label if position == 0 else ""),
                row.policy,
                difference_text(metric, row.difference),
                interval_text(metric, row.ci_low, row.ci_high),
                p_text(getattr(row, f"p_{correction}")),
                verdict.append(" (changes)") if row.verdict_changes else verdict,
            )
    console.print(table)
    changed = list(dict.fromkeys(row.metric for row in rows if row.verdict_changes))
    conclusion = f"Verdicts that change: {labels(changed)}." if changed else "No verdict changes."
    console.print(Text(f"\n{conclusion}"))
