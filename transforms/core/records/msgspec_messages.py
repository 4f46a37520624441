"""Parses messages of `msgspec.ValidationError`, which alone say what is wrong and where.

They are not part of its interface; a test checks them for the pinned version.
"""

from __future__ import annotations

import re

_PATH = re.compile(r"`\$([^`]*)`$")
_MISSING = re.compile(r"missing required field `(\w+)`")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_INSIDE_MAP = "[...]"


def missing_field(message: str) -> str | None:
    """The name of the missing required field; None if a value is wrong."""
    match = _MISSING.search(message)
    return match and match.group(1)


def path_to_wrong_value(message: str) -> tuple[str | int, ...]:
    """Names of fields and positions in lists from the record to the wrong value, or to its map."""
    match = _PATH.search(message)
    path = match.group(1).split(_INSIDE_MAP)[0] if match else ""
    return tuple(int(position) if position else name for name, position in _STEP.findall(path))


def without_path(message: str) -> str:
    """What is wrong with the value, without where it is."""
    return message.rpartition(" - at ")[0] or message
