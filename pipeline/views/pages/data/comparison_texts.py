"""The texts of a comparison's cells in a page; its script shows them as they are."""

from __future__ import annotations

from goodgain.pipeline.document.columns import texts_of
from goodgain.pipeline.document.numbers import count_text
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow
from goodgain.pipeline.views.comparison_tables import Columns


def texts_of_comparison(row: ComparisonRow, columns: Columns) -> dict[str, str]:
    """What the page tells of a row of `comparison` at N: its columns, and parts of them.

    Args:
      columns: those of the page.
    """
    texts = texts_of(columns, row)
    counts = {part: count_text(getattr(row, part)) for part in ("good", "same", "bad")}
    return {**texts, "size": texts["difference"].removesuffix(" pp"), **counts}
