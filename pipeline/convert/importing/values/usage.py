"""The tokens of a model's call, whose input may or may not include what came from a cache."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum
from typing import Any

from goodgain.pipeline.convert.importing.values.scalars import number


def read_token_count(usage: Mapping[str, Any]) -> float | None:
    """All tokens of a call; None if they cannot be told.

    Args:
      usage: `total`, `input` and `output` tokens, a list of `cached` ones (read and written), and
        `apart`, whether these are not part of the input by the convention of their source. If they
        exceed the input, they cannot be part of it.
    """
    total, given, written = (number(usage.get(name)) for name in ("total", "input", "output"))
    listed = usage.get("cached")
    parts = listed if isinstance(listed, list) else [listed]
    cached = fsum(count for count in map(number, parts) if count is not None)
    apart = bool(usage.get("apart")) or (given is not None and cached > given)
    if cached and apart:
        return None if given is None or written is None else given + written + cached
    if total is not None:
        return total
    return None if given is None or written is None else given + written
