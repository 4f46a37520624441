"""What a run was given in memory, by `goodgain.evaluate`, so that no file has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Stands in the options of a run for what its caller held.
IN_MEMORY = "(in memory)"
_BESIDE = {
    "labels": "labels",
    "qrels": "qrels",
    "outcomes": "outcomes",
    "exclude": "excluded documents",
}


def find_in_memory(parameters: Mapping[str, Any]) -> str | None:
    """What was in memory, like "traces", by the options of a run; None if nothing was."""
    if IN_MEMORY in parameters.get("input", ()):
        return "traces"
    return next((what for name, what in _BESIDE.items() if parameters.get(name) == IN_MEMORY), None)
