"""Parses msgspec's messages, the only source for the position and kind of a mistake.

They are not part of its interface; a test checks them for the pinned version.
"""

from __future__ import annotations

import re

from msgspec import Struct

_PATH = re.compile(r"`\$([^`]*)`$")
_MISSING = re.compile(r"missing required field `(\w+)`")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_INSIDE_MAP = "[...]"


class Mistake(Struct, frozen=True):
    """Where a conversion failed.

    Attributes:
      missing: name of the missing required field; None if a value is wrong.
      steps: names of fields and positions in lists on the path from the record to the wrong value,
        or to the map that contains it.
    """

    missing: str | None
    steps: tuple[str | int, ...] = ()


def mistake_of(message: str) -> Mistake:
    """Parse the message of a `msgspec.ValidationError`."""
    if missing := _MISSING.search(message):
        return Mistake(missing.group(1))
    match = _PATH.search(message)
    path = match.group(1).split(_INSIDE_MAP)[0] if match else ""
    return Mistake(None, tuple(_step(step) for step in _STEP.finditer(path)))


def _step(step: re.Match[str]) -> str | int:
    name, position = step.groups()
    return name if position is None else int(position)
