"""Sums of good documents on the way from found to opened to cited, over some conversations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Columns of `conversations` that are summed.
_COLUMNS = (
    "calls", "calls_empty", "calls_failed", "queries_repeated", "GR", "opens", "opened_unsurfaced",
    "cites", "cited_unsurfaced", "cited_unopened",
)  # fmt: skip
# Good documents of the search that were opened or cited, and the share of GR that they are.
OPENED, CITED = "opened", "cited"
_SHARES = {OPENED: "open_recall", CITED: "cite_recall"}
COLUMNS = (*_COLUMNS, *_SHARES.values())


def way_numbers(row: Mapping[str, Any]) -> dict[str, int]:
    """The numbers of one conversation that is in the means, to be summed; 0 for null."""
    numbers = {name: round(row.get(name) or 0) for name in _COLUMNS}
    shares = {name: row.get(recall) or 0 for name, recall in _SHARES.items()}
    return numbers | {name: round(share * numbers["GR"]) for name, share in shares.items()}
