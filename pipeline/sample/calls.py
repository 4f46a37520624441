"""One search call of a sample: a tool's ranked list of new, returning and similar documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from goodgain.pipeline.sample.copies import copy_of
from goodgain.pipeline.sample.documents import Document, new_document
from goodgain.pipeline.sample.near_misses import near_miss_of
from goodgain.pipeline.sample.options import SampleOptions
from goodgain.pipeline.sample.scene import Scene
from goodgain.pipeline.sample.words import words

NEW = "new"
ENTERPRISE = "enterprise_search"
WEB = "web_search"

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


@dataclass
class SampledTurn:
    """The documents that the calls of one turn have found so far.

    Attributes:
      number: the turn, from 1.
      repeat_share: share of repeats in each call but the first.
      documents: each document once, in the order of retrieval.
    """

    number: int
    tools: tuple[str, ...]
    repeat_share: float
    documents: list[Document] = field(default_factory=list)
    searches: int = 0


def make_turn(scene: Scene, options: SampleOptions, number: int, iterations: int) -> SampledTurn:
    """A turn in which `duplicate_share` of the results are repeats, as far as possible."""
    tools = scene.draw.weighted(((0.7, (ENTERPRISE,)), (0.22, (WEB,)), (0.08, (ENTERPRISE, WEB))))
    repeats = options.duplicate_share
    if iterations > 1:
        repeats *= (iterations - _FIRST_CALL_REPEATS) / (iterations - 1)
    return SampledTurn(number, tools, min(repeats, _MOST_REPEATS))


def search(
    scene: Scene, options: SampleOptions, turn: SampledTurn, count: int
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The query, tool and results of the turn's next call, and the origin of each result.

    Origins are `new`, `copy:WAY` (see `copies`) and `near:WAY` (see `near_misses`).
    """
    draw = scene.draw
    tool = draw.pick(turn.tools)
    repeats = turn.repeat_share * (_FIRST_CALL_REPEATS if turn.searches == 0 else 1.0)
    turn.searches += 1
    results: list[dict[str, Any]] = []
    origins: list[str] = []
    score = 0.99
    scored = draw.random() < (0.9 if tool == ENTERPRISE else 0.5)
    for rank in range(count):
        origin, document = _retrieve(scene, options, turn, tool, repeats)
        result = dict(document)
        if scored:
            score *= 0.9 + 0.1 * draw.random()
            result["score"] = round(score, 6)
        result["reference_id"] = f"turn{turn.number}search{turn.searches}-{rank + 1}"
        if origin.startswith("copy:") and draw.random() < _OTHER_LABEL_SHARE:
            result["gain"] = (document.get("gain", 0) + draw.between(1, 4)) % 5
        results.append(result)
        origins.append(origin)
    query = f"{draw.pick(words().asks)} {scene.author.topic.lower()}"
    if draw.random() < 0.4:
        query += f" {draw.pick(words().departments).lower()}"
    return {"query": query, "tool": tool, "results": results}, tuple(origins)


def _retrieve(
    scene: Scene, options: SampleOptions, turn: SampledTurn, tool: str, repeats: float
) -> tuple[str, Document]:
    draw = scene.draw
    if turn.documents and draw.random() < repeats:
        way, document = copy_of(scene, draw.pick(turn.documents))
        return f"copy:{way}", document
    if turn.documents and draw.random() < _NEAR_MISS_SHARE:
        near = near_miss_of(scene, draw.pick(turn.documents), options.unlabelled_share)
        if near is not None:
            return f"near:{near[0]}", near[1]
    kind = draw.weighted(_ENTERPRISE_TYPES) if tool == ENTERPRISE else None
    document = new_document(scene, kind, options.unlabelled_share)
    turn.documents.append(document)
    return NEW, document
