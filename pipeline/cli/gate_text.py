"""The outcome of a gate as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from goodgain.pipeline.gate.outcome import Outcome, cautions_of
from goodgain.pipeline.terminal.console import plain_table
from goodgain.pipeline.terminal.safe_text import untrusted
from goodgain.transforms.core.wording import counted

_COLOURS = {"passed": "green", "failed": "red", "skipped": "yellow"}


def render(outcomes: Sequence[Outcome], console: Console) -> None:
    """Print one line per outcome, the reasons of those that did not pass, and the verdict."""
    table = plain_table()
    for heading in ("rule", "value", "bound"):
        table.add_column(heading, overflow="fold")
    table.add_column("verdict", no_wrap=True)
    for outcome in outcomes:
        verdict = Text(outcome.verdict, style=_COLOURS[outcome.verdict])
        table.add_row(*map(untrusted, outcome.cells), verdict)
    console.print(table)
    explained = [outcome for outcome in outcomes if outcome.reason and outcome.verdict != "passed"]
    if explained:
        console.print()
    for outcome in explained:
        line = untrusted(f"{outcome.verdict}: {outcome.cells[0]}: {outcome.reason}.")
        console.print(line, soft_wrap=True)
    if warned := cautions_of(outcomes):
        console.print()
    for caution in warned:
        console.print(untrusted(caution), soft_wrap=True)
    failed = sum(outcome.verdict == "failed" for outcome in outcomes)
    skipped = sum(outcome.verdict == "skipped" for outcome in outcomes)
    checked = counted(len(outcomes) - skipped, "rule")
    total = f"failed: {failed} of {checked}" if failed else f"passed: {checked}, none failed"
    console.print(f"\nThe gate {total}{f'; {skipped} skipped' if skipped else ''}.")
