"""Turns of a sample: the results of one search after the other."""

from __future__ import annotations

from typing import Any

from goodgain.pipeline.sample.copies import copy_of
from goodgain.pipeline.sample.documents import draw_document
from goodgain.pipeline.sample.entity_documents import Document
from goodgain.pipeline.sample.near_misses import draw_near_miss
from goodgain.pipeline.sample.scene import Scene
from goodgain.pipeline.sample.text import words
from goodgain.pipeline.settings.sample_config import SampleConfig

_ENTERPRISE, _WEB = "enterprise_search", "web_search"
_REPEATED_SHARE = 0.3  # of results
_NEAR_MISS_SHARE = 0.04
_OTHER_LABEL_SHARE = 0.04
# Repeats within the first call of a turn, relative to later calls: passages of one document.
_FIRST_CALL_REPEATS = 0.3
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


class SampleTurn:
    """A turn in which a share of the results are repeats, as far as possible."""

    def __init__(self, scene: Scene, options: SampleConfig, number: int, iterations: int) -> None:
        """Begin turn `number`, which will have so many iterations."""
        self._scene = scene
        self._number = number
        self._unlabelled_share = options.unlabelled_share
        # Where no document has a label, no copy has another one.
        self._other_label_share = 0.0 if options.unlabelled_share == 1 else _OTHER_LABEL_SHARE
        self._tools = scene.draw.pick_weighted(
            ((0.7, (_ENTERPRISE,)), (0.22, (_WEB,)), (0.08, (_ENTERPRISE, _WEB)))
        )
        self._repeat_share = _REPEATED_SHARE  # in each call but the first
        if iterations > 1:
            self._repeat_share *= (iterations - _FIRST_CALL_REPEATS) / (iterations - 1)
        self._documents: list[Document] = []  # each once, in the order of retrieval
        self._searches = 0

    def search(self, count: int) -> dict[str, Any]:
        """The query, tool and results of the next call."""
        draw = self._scene.draw
        tool = draw.pick(self._tools)
        repeats = self._repeat_share * (_FIRST_CALL_REPEATS if self._searches == 0 else 1.0)
        self._searches += 1
        results: list[dict[str, Any]] = []
        score = 0.99
        scored = draw.random() < (0.9 if tool == _ENTERPRISE else 0.5)
        for rank in range(count):
            document, is_copy = self._retrieve(tool, repeats)
            result = dict(document)
            if scored:
                score *= 0.9 + 0.1 * draw.random()
                result["score"] = round(score, 6)
            result["reference_id"] = f"turn{self._number}search{self._searches}-{rank + 1}"
            if is_copy and draw.random() < self._other_label_share:
                result["gain"] = (document.get("gain", 0) + draw.between(1, 4)) % 5
            results.append(result)
        query = f"{draw.pick(words().asks)} {self._scene.author.topic.lower()}"
        if draw.random() < 0.4:
            query += f" {draw.pick(words().departments).lower()}"
        return {"query": query, "tool": tool, "results": results}

    def _retrieve(self, tool: str, repeats: float) -> tuple[Document, bool]:
        """The next document, and whether it is a copy of an earlier one."""
        scene, draw = self._scene, self._scene.draw
        if self._documents and draw.random() < repeats:
            return copy_of(scene, draw.pick(self._documents)), True
        if self._documents and draw.random() < _NEAR_MISS_SHARE:
            near = draw_near_miss(scene, draw.pick(self._documents), self._unlabelled_share)
            if near is not None:
                return near, False
        kind = draw.pick_weighted(_ENTERPRISE_TYPES) if tool == _ENTERPRISE else None
        document = draw_document(scene, kind, self._unlabelled_share)
        self._documents.append(document)
        return document, False
