"""Conversations of a sample, record by record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from goodgain.pipeline.sample.draw import Draw
from goodgain.pipeline.sample.scene import Scene, make_scene
from goodgain.pipeline.sample.turns import SampleTurn
from goodgain.pipeline.settings.sample_config import SampleConfig

Record = dict[str, Any]
_BAD_FIELDS = ("gain", "conversation_id", "iteration", "score", "turn")
_MODELS = ("agent-large-2", "agent-small-2", "agent-large-3-preview")
_GOLDEN_RATIO = 0.6180339887498949
_TWO_SEARCHES_SHARE = 0.12  # of iterations
_EMPTY_SHARE = 0.03  # of iterations: their only search returns nothing
_REDELIVERED_SHARE = 0.02  # of records
_ITERATION_GAP_SHARE = 0.12  # of iterations: numbers are skipped before them
_UNSEARCHED_TURN_SHARE = 0.01  # of conversations: their last turn does not search
_STEP_TOKENS = 350  # added to the context by each earlier step
_USD_PER_TOKEN = 2.0**-18  # a power of 2, so that sums are exact
_NO_PRICES_SHARE = 0.04  # of conversations: they have no costs in USD


def sample_records(options: SampleConfig) -> Iterator[Record]:
    """The trace records of a sample as plain dicts (SPEC 2), conversation after conversation.

    Timestamps are milliseconds since 1970 UTC. Fields without a value are left out.
    """
    for index in range(options.conversations):
        yield from _conversation(options, index)


def _conversation(options: SampleConfig, index: int) -> list[Record]:
    draw = Draw(f"{options.seed}/{index}")
    spacing = options.spacing_millis
    begins = options.start + index * spacing + draw.below(spacing)
    scene = make_scene(draw, begins)
    # What the system that wrote the trace does.
    numbers_calls, names_records = draw.chance(0.85), draw.chance(0.9)
    knows_turns, marks_end = draw.chance(0.3), draw.chance(0.8)
    records = _searches(scene, options, _iterations_of_turns(draw, options, index))
    _add_costs(Draw(f"{options.seed}/{index}/costs"), records)
    for record in records:
        if not numbers_calls:
            del record["call"]
        if names_records:
            record["record_id"] = draw.guid()
    last = records[-1]
    if marks_end:
        last["is_final"] = True
    if knows_turns:
        last["turn_count"] = last["turn"]
    if draw.chance(_UNSEARCHED_TURN_SHARE):
        last["turn_count"] = last["turn"] + 1
    if draw.chance(0.03):
        last["attributes"] = {**last["attributes"], "arm": ""}
    spoiled = [_spoil(draw, options, record) for record in records]
    return _deliver(draw, names_records or numbers_calls, records, spoiled)


def _iterations_of_turns(draw: Draw, options: SampleConfig, index: int) -> list[int]:
    """The number of iterations of each turn; together, those of the conversation.

    The totals follow a golden-ratio sequence, which looks random but is evenly spread, so the size
    of a sample hardly depends on the seed.
    """
    total = options.iterations
    if not options.fixed_iterations:
        offset = Draw(f"{options.seed}/iterations").random()
        total = 1 + int((offset + index * _GOLDEN_RATIO) % 1.0 * (2 * total - 1))
    several = draw.chance(options.turns_share)
    turns = min(draw.between(2, 3), total) if several else 1
    counts = [1] * turns
    for _ in range(total - turns):
        counts[draw.below(turns)] += 1
    return counts


def _searches(scene: Scene, options: SampleConfig, iterations: list[int]) -> list[Record]:
    """The search calls of all turns in order, with turn, iteration, call and timestamp."""
    draw = scene.draw
    conversation_id = draw.guid()
    attributes = {"arm": draw.pick(("A", "B")), "market": scene.market, "model": draw.pick(_MODELS)}
    if draw.chance(0.05):
        del attributes["model"]
    clock = scene.begins
    records: list[Record] = []
    for number, iterations_of_turn in enumerate(iterations, start=1):
        turn = SampleTurn(scene, options, number, iterations_of_turn)
        iteration = 0
        for _ in range(iterations_of_turn):
            iteration += draw.between(2, 3) if draw.chance(_ITERATION_GAP_SHARE) else 1
            clock += draw.between(1_500, 25_000)
            for call, results in enumerate(_results_of_calls(draw, options.results)):
                content = turn.search(results)
                record = {
                    "conversation_id": conversation_id,
                    "turn": number,
                    "iteration": iteration,
                    "call": call,
                    "timestamp": clock + call * draw.between(0, 400),
                    "attributes": attributes,
                    **content,
                }
                records.append(record)
        clock += draw.between(20_000, 240_000)
    return records


def _add_costs(draw: Draw, records: list[Record]) -> None:
    """Add costs: the first call of an iteration has the tokens of the model step before it."""
    has_prices = not draw.chance(_NO_PRICES_SHARE)
    steps = 0
    previous: tuple[int, int] | None = None
    for record in records:
        iteration = record["turn"], record["iteration"]
        tokens = 0
        if iteration != previous:
            steps += 1
            tokens = 200 + steps * _STEP_TOKENS + draw.below(500)
        previous = iteration
        milliseconds = draw.between(150, 900) + 4 * tokens
        costs = {"milliseconds": float(milliseconds), "tokens": float(tokens)}
        if has_prices:
            costs["usd"] = tokens * _USD_PER_TOKEN
        record["costs"] = costs


def _results_of_calls(draw: Draw, results: int) -> tuple[int, ...]:
    """The number of results of each search in one iteration."""
    roll = draw.random()
    if roll < _EMPTY_SHARE:
        return (0,)
    if roll < _EMPTY_SHARE + _TWO_SEARCHES_SHARE:
        return (results - results // 2, results // 2)
    return (results,)


def _spoil(draw: Draw, options: SampleConfig, record: Record) -> Record | None:
    """Sometimes a copy with an impossible value, which is rejected (SPEC 3); else None."""
    if not draw.chance(options.bad_share):
        return None
    field = draw.pick(_BAD_FIELDS)
    if field in ("gain", "score") and not record["results"]:
        field = "iteration"
    if field == "conversation_id":
        return {**record, field: ""}
    if field in ("iteration", "turn"):
        return {**record, field: 0}
    results = list(record["results"])
    rank = draw.below(len(results))
    value = draw.pick((7, -1)) if field == "gain" else draw.pick((math.nan, math.inf))
    results[rank] = {**results[rank], field: value}
    return {**record, "results": results}


def _deliver(
    draw: Draw, identified: bool, records: list[Record], spoiled: list[Record | None]
) -> list[Record]:
    """Redeliver some usable records: at once or at the end, unchanged or changed (SPEC 3).

    Args:
      identified: whether records have an identity, so that changed ones are redeliveries, too.
      spoiled: for each record, what is delivered in its place; None if it is usable.
    """
    delivered: list[Record] = []
    at_end: list[Record] = []
    for record, bad in zip(records, spoiled, strict=True):
        delivered.append(bad or record)
        if draw.chance(_REDELIVERED_SHARE) and bad is None:
            copy = _redeliver(draw, identified, record)
            (at_end if draw.chance(0.5) else delivered).append(copy)
    return delivered + at_end


def _redeliver(draw: Draw, identified: bool, record: Record) -> Record:
    if not identified or not record["results"] or draw.chance(0.6):
        return record
    results = list(record["results"])
    rank = draw.below(len(results))
    changed = {"gain": (results[rank].get("gain", 0) + 1) % 5}
    if not any("gain" in result for result in results):  # nobody labels them
        changed = {"title": "Moved"}
    results[rank] = {**results[rank], **changed}
    later = record["timestamp"] + draw.pick((0, 1_000, 7_000))
    return {**record, "results": results, "timestamp": later}
