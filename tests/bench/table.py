"""The table that the benchmarks print and store."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench.rows import Row

_HEADINGS = ("what", "value", "unit", "aim")


def store(rows: Sequence[Row], path: Path) -> None:
    """Print the rows, and write them to `path` as a table in Markdown."""
    table = Table(*_HEADINGS)
    for row in rows:
        table.add_row(*row.cells())
    Console(width=110).print(table)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [_HEADINGS, tuple("---" for _ in _HEADINGS), *(row.cells() for row in rows)]
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"
    path.write_text(text, encoding="utf-8")
