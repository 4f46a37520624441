"""The table that the benchmarks print and store."""

import sys
from collections.abc import Iterable
from pathlib import Path

from tests.bench.rows import Row

_HEADINGS = ("what", "value", "unit", "aim")


def store(rows: Iterable[Row], path: Path) -> None:
    """Print each row as it is measured, then write all rows to `path` as a Markdown table."""
    lines = [_HEADINGS, tuple("---" for _ in _HEADINGS)]
    for row in rows:
        name, value, unit, target = row.cells()
        sys.stdout.write(f"{name:66} {value:>10} {unit:15} {target}\n")
        sys.stdout.flush()
        lines.append(row.cells())
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join("| " + " | ".join(cells) + " |\n" for cells in lines)
    path.write_text(text, encoding="utf-8")
    sys.stdout.write(f"\nThe table is in {path}.\n")
