"""Conversations of a sample, record by record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from goodgain.pipeline.sample.copies import copy_of
from goodgain.pipeline.sample.documents import Document, new_document
from goodgain.pipeline.sample.draw import Draw
from goodgain.pipeline.sample.near_misses import near_miss_of
from goodgain.pipeline.sample.scene import Scene, make_scene
from goodgain.pipeline.sample.text import words
from goodgain.pipeline.settings.sample_config import SampleConfig

BAD_KINDS = ("gain", "conversation_id", "iteration", "score", "turn")
_REGULAR = "regular"
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
_ENTERPRISE, _WEB = "enterprise_search", "web_search"
_NEAR_MISS_SHARE = 0.04
_OTHER_LABEL_SHARE = 0.04
# Repeats within the first call of a turn, relative to later calls: passages of one document.
_FIRST_CALL_REPEATS = 0.3
_MOST_REPEATS = 0.97
_ENTERPRISE_TYPES: tuple[tuple[float, str | None], ...] = (
    (0.36, "File"),
    (0.16, "EmailMessage"),
    (0.14, "TeamsMessage"),
    (0.11, "Event"),
    (0.08, "People"),
    (0.09, "External"),
    (0.055, "MeetingTranscript"),
    (0.005, "Whiteboard"),
)


@dataclass(frozen=True)
class SampleCall:
    """A trace record, and how it was made.

    Attributes:
      record: plain values with the names of SPEC 2; the timestamp in milliseconds since 1970 UTC.
      kind: `regular`, `redelivered` (an unchanged copy of an earlier record), `conflicting` (a copy
        with changes) or `bad:FIELD`.
      origins: for each result `new`, `copy:WAY` or `near:WAY`; WAY is a name in `COPIES` or
        `NEAR_MISSES`.
    """

    record: dict[str, Any]
    kind: str
    origins: tuple[str, ...]


def sample_records(options: SampleConfig) -> Iterator[dict[str, Any]]:
    """The trace records of a sample as plain dicts (SPEC 2), conversation after conversation.

    Timestamps are milliseconds since 1970 UTC. Fields without a value are left out.
    """
    for call in sample_calls(options):
        yield call.record


def sample_calls(options: SampleConfig) -> Iterator[SampleCall]:
    """The records of `sample_records`, each with a description of how it was made."""
    for index in range(options.conversations):
        yield from _conversation(options, index)


def _conversation(options: SampleConfig, index: int) -> list[SampleCall]:
    draw = Draw(f"{options.seed}/{index}")
    spacing = options.spacing_millis
    begins = options.start + index * spacing + draw.below(spacing)
    scene = make_scene(draw, begins)
    # What the system that wrote the trace does.
    numbers_calls, names_records = draw.chance(0.85), draw.chance(0.9)
    knows_turns, marks_end = draw.chance(0.3), draw.chance(0.8)
    calls = _searches(scene, options, _iterations_of_turns(draw, options, index))
    _add_costs(Draw(f"{options.seed}/{index}/costs"), calls)
    for call in calls:
        if not numbers_calls:
            del call.record["call"]
        if names_records:
            call.record["record_id"] = draw.guid()
    last = calls[-1].record
    if marks_end:
        last["is_final"] = True
    if knows_turns:
        last["turn_count"] = last["turn"]
    if draw.chance(_UNSEARCHED_TURN_SHARE):
        last["turn_count"] = last["turn"] + 1
    if draw.chance(0.03):
        last["attributes"] = {**last["attributes"], "arm": ""}
    calls = [_spoil(draw, options, call) for call in calls]
    return _with_redeliveries(draw, names_records or numbers_calls, calls)


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


def _searches(scene: Scene, options: SampleConfig, iterations: list[int]) -> list[SampleCall]:
    """The search calls of all turns in order, with turn, iteration, call and timestamp."""
    draw = scene.draw
    conversation_id = draw.guid()
    attributes = {"arm": draw.pick(("A", "B")), "market": scene.market, "model": draw.pick(_MODELS)}
    if draw.chance(0.05):
        del attributes["model"]
    clock = scene.begins
    calls = []
    for number, iterations_of_turn in enumerate(iterations, start=1):
        turn = SampledTurn(scene, options, number, iterations_of_turn)
        iteration = 0
        for _ in range(iterations_of_turn):
            iteration += draw.between(2, 3) if draw.chance(_ITERATION_GAP_SHARE) else 1
            clock += draw.between(1_500, 25_000)
            for call, results in enumerate(_results_of_calls(draw, options.results)):
                content, origins = turn.search(results)
                record = {
                    "conversation_id": conversation_id,
                    "turn": number,
                    "iteration": iteration,
                    "call": call,
                    "timestamp": clock + call * draw.between(0, 400),
                    "attributes": attributes,
                    **content,
                }
                calls.append(SampleCall(record, _REGULAR, origins))
        clock += draw.between(20_000, 240_000)
    return calls


def _add_costs(draw: Draw, calls: list[SampleCall]) -> None:
    """Add costs: the first call of an iteration has the tokens of the model step before it."""
    has_prices = not draw.chance(_NO_PRICES_SHARE)
    steps = 0
    previous: tuple[int, int] | None = None
    for call in calls:
        iteration = call.record["turn"], call.record["iteration"]
        tokens = 0
        if iteration != previous:
            steps += 1
            tokens = 200 + steps * _STEP_TOKENS + draw.below(500)
        previous = iteration
        milliseconds = draw.between(150, 900) + 4 * tokens
        costs = {"milliseconds": float(milliseconds), "tokens": float(tokens)}
        if has_prices:
            costs["usd"] = tokens * _USD_PER_TOKEN
        call.record["costs"] = costs


def _results_of_calls(draw: Draw, results: int) -> tuple[int, ...]:
    """The number of results of each search in one iteration."""
    roll = draw.random()
    if roll < _EMPTY_SHARE:
        return (0,)
    if roll < _EMPTY_SHARE + _TWO_SEARCHES_SHARE:
        return (results - results // 2, results // 2)
    return (results,)


def _spoil(draw: Draw, options: SampleConfig, call: SampleCall) -> SampleCall:
    """The call, or sometimes a copy with an impossible value, which is rejected (SPEC 3)."""
    if not draw.chance(options.bad_share):
        return call
    kind = draw.pick(BAD_KINDS)
    record = dict(call.record)
    if kind in ("gain", "score") and not record["results"]:
        kind = "iteration"
    if kind == "conversation_id":
        record["conversation_id"] = ""
    elif kind in ("iteration", "turn"):
        record[kind] = 0
    else:
        results = record["results"] = list(record["results"])
        rank = draw.below(len(results))
        value = draw.pick((7, -1)) if kind == "gain" else draw.pick((math.nan, math.inf))
        results[rank] = {**results[rank], kind: value}
    return replace(call, record=record, kind=f"bad:{kind}")


def _with_redeliveries(draw: Draw, identified: bool, calls: list[SampleCall]) -> list[SampleCall]:
    """Redeliver some usable records: at once or at the end, unchanged or changed (SPEC 3)."""
    delivered: list[SampleCall] = []
    at_end: list[SampleCall] = []
    for call in calls:
        delivered.append(call)
        if draw.chance(_REDELIVERED_SHARE) and call.kind == _REGULAR:
            copy = _redelivered(draw, identified, call)
            (at_end if draw.chance(0.5) else delivered).append(copy)
    return delivered + at_end


def _redelivered(draw: Draw, identified: bool, call: SampleCall) -> SampleCall:
    # Without record_id and call number only an exact copy is a redelivery.
    if not identified or not call.record["results"] or draw.chance(0.6):
        return replace(call, kind="redelivered")
    results = list(call.record["results"])
    rank = draw.below(len(results))
    results[rank] = {**results[rank], "gain": (results[rank].get("gain", 0) + 1) % 5}
    later = call.record["timestamp"] + draw.pick((0, 1_000, 7_000))
    record = {**call.record, "results": results, "timestamp": later}
    return replace(call, record=record, kind="conflicting")


class SampledTurn:
    """A turn in which `duplicate_share` of the results are repeats, as far as possible."""

    def __init__(self, scene: Scene, options: SampleConfig, number: int, iterations: int) -> None:
        self._scene = scene
        self._number = number
        self._unlabelled_share = options.unlabelled_share
        self._tools = scene.draw.weighted(
            ((0.7, (_ENTERPRISE,)), (0.22, (_WEB,)), (0.08, (_ENTERPRISE, _WEB)))
        )
        repeats = options.duplicate_share
        if iterations > 1:
            repeats *= (iterations - _FIRST_CALL_REPEATS) / (iterations - 1)
        self._repeat_share = min(repeats, _MOST_REPEATS)  # in each call but the first
        self._documents: list[Document] = []  # each once, in the order of retrieval
        self._searches = 0

    def search(self, count: int) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The query, tool and results of the next call, and the origin of each result.

        Origins are `new`, `copy:WAY` and `near:WAY` (see `copies`).
        """
        draw = self._scene.draw
        tool = draw.pick(self._tools)
        repeats = self._repeat_share * (_FIRST_CALL_REPEATS if self._searches == 0 else 1.0)
        self._searches += 1
        results: list[dict[str, Any]] = []
        origins: list[str] = []
        score = 0.99
        scored = draw.random() < (0.9 if tool == _ENTERPRISE else 0.5)
        for rank in range(count):
            origin, document = self._retrieve(tool, repeats)
            result = dict(document)
            if scored:
                score *= 0.9 + 0.1 * draw.random()
                result["score"] = round(score, 6)
            result["reference_id"] = f"turn{self._number}search{self._searches}-{rank + 1}"
            if origin.startswith("copy:") and draw.random() < _OTHER_LABEL_SHARE:
                result["gain"] = (document.get("gain", 0) + draw.between(1, 4)) % 5
            results.append(result)
            origins.append(origin)
        query = f"{draw.pick(words().asks)} {self._scene.author.topic.lower()}"
        if draw.random() < 0.4:
            query += f" {draw.pick(words().departments).lower()}"
        return {"query": query, "tool": tool, "results": results}, tuple(origins)

    def _retrieve(self, tool: str, repeats: float) -> tuple[str, Document]:
        scene, draw = self._scene, self._scene.draw
        if self._documents and draw.random() < repeats:
            way, document = copy_of(scene, draw.pick(self._documents))
            return f"copy:{way}", document
        if self._documents and draw.random() < _NEAR_MISS_SHARE:
            near = near_miss_of(scene, draw.pick(self._documents), self._unlabelled_share)
            if near is not None:
                return f"near:{near[0]}", near[1]
        kind = draw.weighted(_ENTERPRISE_TYPES) if tool == _ENTERPRISE else None
        document = new_document(scene, kind, self._unlabelled_share)
        self._documents.append(document)
        return "new", document
