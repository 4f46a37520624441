"""Runs of BrowseComp-Plus's agents, one file for each query, and the judgments of their answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from goodgain.pipeline.convert.importing.formats.format import Decoder, Refuse, object_of, objects
from goodgain.pipeline.convert.importing.values.scalars import integer
from goodgain.pipeline.convert.importing.values.usage import read_token_count
from goodgain.transforms.core.errors import UsageError

_PLACE = "_place"
_JUDGED = "_eval.json"  # the end of a judgment's name, after the name of the run's file
_CITATION = re.compile(r"\[([^\[\]]*)\]|【([^【】]*)】")
_DOCID = re.compile(r"\d+")
_OPENS = "get_document"

Step = dict[str, Any]


def with_judgment(path: str, records: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """The records of a file, each with its place in words, and the judgment that lies beside it."""
    for position, record in records:
        yield position, {**record, _PLACE: position} if isinstance(record, dict) else record
    file = Path(path)
    judged = file.with_name(file.name.partition(".json")[0] + _JUDGED)
    if judged.is_file():
        try:
            yield str(judged), msgspec.json.decode(judged.read_bytes())
        except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
            yield str(judged), None


def browsecomp_plus() -> Decoder:
    """The decoder of one import, which refuses a query that occurs twice.

    A run's steps become spans, ordered by their position; the judgment of its answer becomes a
    record about the whole run.
    """
    places: dict[str, str] = {}

    def decode(record: Any, refuse: Refuse) -> Iterator[dict[str, Any]]:
        if not isinstance(record, dict) or not record.get("query_id"):
            refuse("JSON without a query_id")
            return
        query_id = str(record["query_id"])
        if isinstance(record.get("judge_result"), dict):
            yield {"query_id": query_id, "outcomes": record["judge_result"]}
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
        place = str(record.pop(_PLACE, "the input"))
        if query_id in places:
            raise UsageError(
                f"Query {query_id} occurs in two of these runs, in {places[query_id]} and in "
                f"{place}; convert each run's files separately."
            )
        places[query_id] = place
        run = {name: value for name, value in record.items() if name != "result"}
        yield {"query_id": query_id, "position": 0, "type": "run", "run": run}
        steps = list(objects(result, refuse, "a step that is not an object"))
        steps = [*_with_costs(steps, _tokens(run)), *_citations(steps)]
        for position, step in enumerate(steps, 1):
            yield {**step, "query_id": query_id, "position": position, "parent": 0, "run": run}

    return decode


def find_cited_docids(answer: str) -> list[str]:
    """The documents that an answer cites, in order, each once.

    Every number within brackets counts, as in the benchmark's own evaluation: `[12]`, `[12, 34]`
    and `【12】`.
    """
    brackets = (match[1] or match[2] or "" for match in _CITATION.finditer(answer))
    return list(dict.fromkeys(docid for inside in brackets for docid in _DOCID.findall(inside)))


def _citations(steps: list[Step]) -> Iterator[Step]:
    """A step with the documents that the answer cites, if the run ends with an answer."""
    last = steps[-1] if steps else {}
    if last.get("type") == "output_text" and isinstance(last.get("output"), str):
        docids = find_cited_docids(last["output"])
        if docids:
            yield {"type": "citations", "output": [{"docid": docid} for docid in docids]}


def _tokens(run: dict[str, Any]) -> dict[str, int]:
    """The tokens of a run, as far as they are known.

    Anthropic's do not contain those from a cache, and are those of its last request if it paused.
    """
    usage, metadata = object_of(run.get("usage")), object_of(run.get("metadata"))
    if metadata.get("pause_restarts"):
        return {}
    cached = integer(usage.get("input_tokens_cached"))
    tokens = read_token_count(
        {
            "total": usage.get("total_tokens"),
            "input": usage.get("input_tokens"),
            "output": usage.get("output_tokens"),
            "cached": cached,
            "apart": "pause_restarts" in metadata,
        }
    )
    found = {"tokens": integer(tokens), "tokens_cached": cached}
    return {name: value for name, value in found.items() if value is not None and value >= 0}


def _with_costs(steps: list[Step], totals: dict[str, int]) -> Iterator[Step]:
    """The steps with their costs: totals are split evenly over the searches, in whole tokens."""
    searches = sum(_is_search(step) for step in steps)
    number = 0
    for step in steps:
        # A step of the model costs nothing beside these shares; an opening has none of its own.
        shares = {} if step.get("type") == "tool_call" else dict.fromkeys(totals, 0)
        if _is_search(step):
            shares = {
                name: total // searches + (number < total % searches)
                for name, total in totals.items()
            }
            number += 1
        yield {**step, "costs": shares}


def _is_search(step: Step) -> bool:
    return step.get("type") == "tool_call" and step.get("tool_name") != _OPENS
