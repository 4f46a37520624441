"""LangSmith's runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goodgain.pipeline.convert.importing.formats.format import Refuse, objects


def langsmith_runs(record: Any, refuse: Refuse) -> Iterator[dict[str, Any]]:
    """A run and the runs within it."""
    if not isinstance(record, dict):
        refuse("JSON that is not an object")
        return
    yield {name: value for name, value in record.items() if name != "child_runs"}
    for child in objects(record.get("child_runs"), refuse, "a run that is not an object"):
        yield from langsmith_runs(child, refuse)
