"""Where answers went wrong: good material found against right answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from goodgain.pipeline.document.model import Cell, TableBlock, TableColumn, table
from goodgain.pipeline.document.numbers import count_text, share

Row = Mapping[str, Any]


def count_finds_by_outcome(row: Row, lower: bool) -> tuple[tuple[int, int], tuple[int, int]]:
    """The conversations with a good outcome and the others, where good material was found or not.

    Args:
      row: of GR, from `outcome_relations`.
      lower: whether the good outcome is 0 rather than 1.
    """
    one, other = ("zero", "one") if lower else ("one", "zero")
    found = row[f"positive_{one}"], row[f"positive_{other}"]
    return found, (row[f"n_{one}"] - found[0], row[f"n_{other}"] - found[1])


def build_finds_table(name: str, headings: Sequence[str], row: Row, lower: bool) -> TableBlock:
    """The table of found against right, from the row of GR.

    Args:
      lower: whether the good outcome is 0 rather than 1.
    """
    found, missed = count_finds_by_outcome(row, lower)
    lines = (
        ("good material found", found, ("found and used", "reading failed")),
        ("none found", missed, ("known, or luck", "search failed")),
    )
    return table(
        (TableColumn("conversations"), *(TableColumn(heading, right=True) for heading in headings)),
        [
            (label, *map(partial(_build_found_cell, row["n"]), counts, meanings))
            for label, counts, meanings in lines
        ],
        f"Good material found, and {name}",
    )


def _build_found_cell(n: int, conversations: int, meaning: str) -> Cell:
    text = f"{count_text(conversations)} ({share(conversations, n)})"
    return Cell(text, "share", below=(meaning,))
