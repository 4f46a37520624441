"""Converts rows, each a search call or a result, to the calls of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.convert.importing.mapping_file import MappingFile
from goodgain.pipeline.convert.importing.spans import OUT_OF_RANGE
from goodgain.pipeline.convert.importing.values.scalars import (
    integer,
    is_in_range,
    millis,
    nanos,
    text,
)

_NUMBERS = ("turn", "iteration", "call", "rank")


class Row(Struct, frozen=True, array_like=True):
    """A search call, or one of its results.

    Attributes:
      timestamp: event time in ms since 1970.
      results: the results of the call, or only the row's own; None if the row does not record any.
      at: index of the row in the input, from 0.
    """

    conversation_id: str
    turn: int | None
    iteration: int | None
    call: int | None
    record_id: str | None
    timestamp: int | None
    query: str | None
    tool: str | None
    attributes: dict[str, str]
    costs: dict[str, float]
    results: list[dict[str, Any]] | None
    at: int
    rank: int | None

    def record(self) -> dict[str, Any]:
        """The trace record of a search call."""
        record = asdict(self)
        del record["at"], record["rank"]
        return record


def row_of(
    record: Any, mapping: MappingFile, at: int, position: str, counts: ImportCounts
) -> Row | None:
    """A record as a row; None if it cannot be used, which is counted."""
    conversation = text(mapping.part("conversation", record))
    if conversation is None:
        counts.skip("a row without a conversation", position)
        return None
    numbers = {}
    for name in _NUMBERS:
        value = mapping.part(name, record)
        numbers[name] = integer(value)
        if numbers[name] is None and text(value) is not None:
            counts.skip(f"a row whose {name} is not a whole number", position)
            return None
    time = nanos(mapping.part("time", record), mapping.time_unit)
    if time is not None and not is_in_range(time):
        counts.skip(OUT_OF_RANGE.format("a row whose time"), position)
        return None
    results: list[dict[str, Any]] | None
    if mapping.unit == "result":
        result = mapping.result_of(record)
        results = [result] if result else []
    else:
        results = mapping.results_of(record)
    return Row(
        conversation_id=conversation,
        at=at,
        **numbers,
        record_id=text(mapping.part("record_id", record)),
        timestamp=millis(time),
        query=text(mapping.part("query", record)),
        tool=text(mapping.part("tool", record)),
        attributes=mapping.attributes_of(record),
        costs=mapping.costs_of(record),
        results=results,
    )


def calls_of_rows(rows: Sequence[Row], unit: str) -> list[Row]:
    """The search calls of a conversation, each with turn, iteration and call.

    If each row is a result, rows with the same turn, iteration and call form one call; without a
    call number, rows with the same query do. Results are ordered by rank, then as in the input. A
    missing turn is 1. A missing iteration is 1 if rows are results; otherwise the calls of a turn,
    ordered by time, are its iterations.
    """
    calls = _join(rows) if unit == "result" else list(rows)
    calls.sort(key=lambda call: (call.timestamp is None, call.timestamp or 0, call.at))
    calls_in_turn: dict[int, int] = {}
    calls_in_iteration: dict[tuple[int, int], int] = {}
    numbered = []
    for call in calls:
        turn = 1 if call.turn is None else call.turn
        calls_in_turn[turn] = calls_in_turn.get(turn, 0) + 1
        iteration = calls_in_turn[turn] if call.iteration is None else call.iteration
        earlier_calls = calls_in_iteration.get((turn, iteration), 0)
        calls_in_iteration[turn, iteration] = earlier_calls + 1
        number = earlier_calls if call.call is None else call.call
        numbered.append(replace(call, turn=turn, iteration=iteration, call=number))
    return numbered


def _join(rows: Sequence[Row]) -> list[Row]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.at):
        iteration = 1 if row.iteration is None else row.iteration
        query = row.query if row.call is None else None
        groups.setdefault((row.turn, iteration, row.call, query), []).append(row)
    joined = []
    for (_, iteration, _, _), members in groups.items():
        ranked = sorted(members, key=lambda row: (row.rank is None, row.rank or 0, row.at))
        times = [row.timestamp for row in members if row.timestamp is not None]
        joined.append(
            replace(
                members[0],
                iteration=iteration,
                timestamp=min(times) if times else None,
                query=next((row.query for row in members if row.query), None),
                tool=next((row.tool for row in members if row.tool), None),
                attributes={k: v for row in reversed(members) for k, v in row.attributes.items()},
                costs={k: v for row in reversed(members) for k, v in row.costs.items()},
                results=[result for row in ranked for result in row.results or []],
            )
        )
    return joined
