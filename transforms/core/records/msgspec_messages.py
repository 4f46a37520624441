"""What msgspec's messages say: it gives neither the place nor the kind of a mistake otherwise.

They are no part of its interface; a test holds them for the release that is pinned.
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
      missing: name of the required field that is not there; None when a value is wrong.
      steps: names of fields and positions in lists from the record to the wrong value, or to the
        map that holds it.
    """

    missing: str | None
    steps: tuple[str | int, ...] = ()


def mistake_of(message: str) -> Mistake:
    """What the message of a `msgspec.ValidationError` tells."""
    if missing := _MISSING.search(message):
        return Mistake(missing.group(1))
    found = _PATH.search(message)
    path = found.group(1).split(_INSIDE_MAP)[0] if found else ""
    return Mistake(None, tuple(_step(step) for step in _STEP.finditer(path)))


def _step(step: re.Match[str]) -> str | int:
    name, position = step.groups()
    return name if position is None else int(position)
