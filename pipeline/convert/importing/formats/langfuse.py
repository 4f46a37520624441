"""Langfuse's observations and traces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from goodgain.pipeline.convert.importing.formats.format import Refuse, objects


def langfuse_observations(record: Any, refuse: Refuse) -> Iterator[dict[str, Any]]:
    """Observations and traces in snake case, from exported rows or a trace's JSON in the UI."""
    if not isinstance(record, dict):
        refuse("JSON that is not an object")
    elif isinstance(record.get("observations"), list):
        inner = record.get("trace")
        trace = inner if isinstance(inner, dict) else record
        yield _snake(trace)
        otherwise = "an observation that is not an object"
        for observation in objects(record["observations"], refuse, otherwise):
            yield {"trace_id": trace.get("id"), **_snake(observation)}
    else:
        yield _snake(record)


def _snake(record: Mapping[str, Any]) -> dict[str, Any]:
    return {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): v for name, v in record.items()}
