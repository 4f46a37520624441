"""Recognizes text that is not JSON Lines, to say what it is and what to do (SPEC 2, 3)."""

from __future__ import annotations

_DELIMITERS = ",\t;|"
_ENOUGH_COLUMNS = 2
_TO_LINES = "write one JSON object per line, with the fields conversation_id, iteration, results"


def why_not_jsonl(head: bytes) -> str | None:
    """Why text is not JSON Lines, in one sentence, if its beginning shows that; else None.

    Args:
      head: the first bytes of the file, decompressed.
    """
    lines = [line.strip() for line in head.removeprefix(b"\xef\xbb\xbf").splitlines()[:3]]
    lines = [line for line in lines if line]
    if not lines:
        return None
    if lines[0] == b"{" and lines[1:2] and lines[1].startswith(b'"'):
        return (
            "The file is one JSON document that spans several lines; write one record per "
            "line instead (jq -c . does)."
        )
    if _is_table(lines):
        return (
            f"The file is a table of columns (CSV); {_TO_LINES}, as `goodgain convert --from "
            "table` does."
        )
    return None


def _is_table(lines: list[bytes]) -> bool:
    """Whether two lines have the same number of columns, and the first one has names."""
    if len(lines) < 2 or lines[0][:1] in b"{[" or lines[1][:1] in b"{[":
        return False
    for delimiter in _DELIMITERS:
        names = lines[0].decode("utf-8", "replace").split(delimiter)
        values = lines[1].count(delimiter.encode()) + 1
        plain = [name.strip().strip('"').replace("_", "").replace(".", "") for name in names]
        if len(names) >= _ENOUGH_COLUMNS and values >= len(names):
            return all(name and not name[0].isdigit() and name.isalnum() for name in plain)
    return False
