"""Records that cannot be used (SPEC 3, `rejected`)."""

from __future__ import annotations

import math
from typing import Any

from goodgain.pipeline.sample.draw import Draw

BAD_KINDS = ("gain", "conversation_id", "iteration", "score", "turn")


def spoil(draw: Draw, record: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A copy of the record with one impossible value, and the name of the bad field."""
    kind = draw.pick(BAD_KINDS)
    if kind in ("gain", "score") and not record["results"]:
        kind = "iteration"
    if kind == "conversation_id":
        return kind, {**record, "conversation_id": ""}
    if kind in ("iteration", "turn"):
        return kind, {**record, kind: 0}
    results = list(record["results"])
    rank = draw.below(len(results))
    value = draw.pick((7, -1)) if kind == "gain" else draw.pick((math.nan, math.inf))
    results[rank] = {**results[rank], kind: value}
    return kind, {**record, "results": results}


def broken_line(draw: Draw, line: bytes) -> bytes:
    """A JSON line as a crashed producer leaves it: truncated, or with bytes that are not UTF-8."""
    if draw.chance(0.5):
        return line[: len(line) // 2]
    position = draw.between(len(line) // 3, len(line) // 2)
    return line[:position] + b"\xff\xfe" + line[position:]
