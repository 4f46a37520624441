"""Runs of BrowseComp-Plus's agents, one file for each query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goodgain.pipeline.convert.importing.formats.format import Decoder, Refuse, object_of, objects
from goodgain.transforms.core.errors import UsageError

_PLACE = "_place"


def placed(_: str, records: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """The records of a file, each with its place in words."""
    for position, record in records:
        yield position, {**record, _PLACE: position} if isinstance(record, dict) else record


def browsecomp_plus() -> Decoder:
    """The decoder of one import, which refuses a query that occurs twice.

    A run's steps become spans, ordered by their position.
    """
    places: dict[str, str] = {}

    def decode(record: Any, refuse: Refuse) -> Iterator[dict[str, Any]]:
        if not isinstance(record, dict) or not record.get("query_id"):
            refuse("JSON without a query_id")
            return
        result = record.get("result")
        steps = result if isinstance(result, list) else []
        searched = any(object_of(step).get("type") == "tool_call" for step in steps)
        if not isinstance(result, list) or (record.get("retrieved_docids") and not searched):
            refuse(
                "a run with only retrieved_docids: a set, which has neither ranks nor iterations; "
                "the run's file with the tool calls in its result[] is needed"
                if "retrieved_docids" in record
                else "a run without result[]"
            )
            return
        query_id = str(record["query_id"])
        place = str(record.pop(_PLACE, "the input"))
        if query_id in places:
            raise UsageError(
                f"Query {query_id} occurs in two of these runs, in {places[query_id]} and in "
                f"{place}; convert each run's files separately."
            )
        places[query_id] = place
        run = {name: value for name, value in record.items() if name != "result"}
        yield {"query_id": query_id, "position": 0, "type": "run", "run": run}
        for position, step in enumerate(objects(result, refuse, "a step that is not an object"), 1):
            yield {**step, "query_id": query_id, "position": position, "parent": 0, "run": run}

    return decode
