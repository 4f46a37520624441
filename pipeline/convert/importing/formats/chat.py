"""Transcripts of chats, in any of the usual shapes, as spans: turns, steps, calls, citations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

import xxhash

from goodgain.pipeline.convert.importing.answers.provider_calls import (
    Call,
    Returned,
    read_listed_search,
)
from goodgain.pipeline.convert.importing.formats.chat_messages import (
    LISTS,
    Message,
    is_item,
    is_message,
    plain_message,
)
from goodgain.pipeline.convert.importing.formats.chat_parts import (
    Cited,
    NextStep,
    Part,
    parts_of,
    parts_of_grounding,
    parts_of_item,
)
from goodgain.pipeline.convert.importing.formats.format import Refuse, object_of

_IDS = ("conversation_id", "session_id", "sessionId", "thread_id", "chat_id", "id", "uuid")
_USAGES = ("usage", "usageMetadata", "usage_metadata")
_TIMES = ("timestamp", "created_at", "createdAt", "created", "time")
_SECONDS_BELOW = 10**11
# What is added to a conversation: its name if it has none, and its place in the input, which tells
# apart those of one name.
_DEFAULT_NAME, PLACE = "_default_name", "_place"


def chat_spans(record: Any, refuse: Refuse) -> Iterator[dict[str, Any]]:
    """The spans of a conversation: an object that holds messages, or a list of them.

    Each user message begins a turn, each assistant message is a step of the model. A call has the
    place at which it was asked for, and the answer with its id.
    """
    holder = record if isinstance(record, dict) else {"messages": record}
    if isinstance(holder.get("samples"), list):  # a log of Inspect
        for sample in map(object_of, holder["samples"]):
            of_sample = "/".join(str(sample[key]) for key in ("id", "epoch") if key in sample)
            place = f"{holder.get(PLACE)} {of_sample}"
            yield from chat_spans({**sample, "conversation_id": of_sample, PLACE: place}, refuse)
        return
    messages = list(_messages(holder))
    if not messages:
        refuse("JSON that holds no messages")
        return
    name = next((holder[key] for key in _IDS if holder.get(key)), holder.get(_DEFAULT_NAME))
    yield from _Transcript(str(name), holder).spans(messages)


def _messages(holder: Mapping[str, Any]) -> Iterator[Message]:
    """The messages and items of a conversation, those of its request before those of its answer."""
    several = next((holder[name] for name in LISTS if isinstance(holder.get(name), list)), None)
    request = object_of(holder.get("request"))
    for found in (several, request.get("messages"), request.get("contents"), holder.get("input")):
        if isinstance(found, str) and found.strip():
            yield {"role": "user", "content": found}
        yield from (
            (plain_message(part) for part in found if isinstance(part, dict))
            if isinstance(found, list)
            else ()
        )
    response = object_of(holder.get("response")) or holder
    if response is not holder and response.get("role"):
        yield plain_message(dict(response))
    searched = response.get("search_results")
    output = response.get("output")
    answers = [output] if isinstance(output, dict) else output
    for found in (answers, response.get("choices"), response.get("candidates")):
        for item in map(object_of, found if isinstance(found, list) else ()):
            message = object_of(item.get("message") or item.get("content"))
            usage = next((response[name] for name in _USAGES if response.get(name)), None)
            metadata = item.get("groundingMetadata") or item.get("grounding_metadata")
            beside = {"grounding": metadata, "search_results": searched}
            beside = {name: value for name, value in beside.items() if value}
            yield {"usage": object_of(usage), **beside, **plain_message(message or item)}


class _Transcript:
    """Makes the spans of one conversation."""

    def __init__(self, name: str, holder: Mapping[str, Any]) -> None:
        place = str(holder.get(PLACE, name))
        trace = xxhash.xxh3_64_hexdigest(place.encode(errors="surrogatepass"))
        self._common = {"trace_id": trace, "conversation": name}
        self._holder = {key: holder.get(key) for key in ("model", "metadata", "attributes")}
        self._position = 0
        self._turn: str | None = None
        self._calls: dict[str, dict[str, Any]] = {}
        self._message_id: Any = None  # a message may be written in several parts
        self._after: str | None = None  # the kind of item before this one

    def spans(self, messages: list[Message]) -> Iterator[dict[str, Any]]:
        for message in messages:
            yield from self._of_message(message)
        yield from self._calls.values()

    def _of_message(self, message: Message) -> Iterator[dict[str, Any]]:
        beside = is_item(message)
        parts = list(parts_of_item(message) if beside else parts_of(message))
        parts += parts_of_grounding(object_of(message.get("grounding")))
        parts += read_listed_search(message.get("search_results"))
        role = message.get("role")
        if role == "user" and not any(isinstance(part, Returned) for part in parts):
            yield self._begin_turn(message)
            self._after = "user"
            return
        if self._turn is None and role not in ("system", "developer"):
            yield self._begin_turn(message)
        if self._is_step(message, parts, beside):
            usage = _usage(object_of(message.get("usage") or message.get("usage_metadata")))
            yield self._span("model", message, usage=usage)
        for part in parts:
            yield from self._of_part(part, message)
        self._after = (
            "reasoning"
            if message.get("type") == "reasoning"
            else ("returned" if any(isinstance(part, Returned) for part in parts) else "asked")
        )

    def _is_step(self, message: Message, parts: list[Part], beside: bool) -> bool:
        """Whether a message begins a step; calls asked for one after another share theirs."""
        if not beside:
            is_rest = message.get("id") is not None and message.get("id") == self._message_id
            self._message_id = message.get("id")
            return message.get("role") == "assistant" and not is_rest
        if message.get("type") == "reasoning":
            return True
        asks = any(isinstance(part, Call) for part in parts)
        return asks and self._after in ("returned", "user", None)

    def _begin_turn(self, message: Message) -> dict[str, Any]:
        root = self._span("turn", message)
        self._turn = root["span_id"]
        return {**root, "parent_id": None}

    def _of_part(self, part: Part, message: Message) -> Iterator[dict[str, Any]]:
        if isinstance(part, Call):
            span = self._span("tool", message, name=part.name, arguments=part.arguments)
            self._calls[f"{part.id or ''} {span['span_id']}"] = span
        elif isinstance(part, Returned):
            key = self._key_of_call(part)
            span = (
                self._span("tool", message, name=part.name) if key is None else self._calls.pop(key)
            )
            answer = {"answer": part.answer, "error": _error(part.error)}
            yield {**span, **answer, "time": _time(message) or span["time"]}
        elif isinstance(part, NextStep):
            yield self._span("model", message)
        elif isinstance(part, Cited):
            yield self._span("cite", message, answer=part.documents)

    def _key_of_call(self, part: Returned) -> str | None:
        """The key of the call that a result answers."""
        for key, span in self._calls.items():
            id_ = key.rpartition(" ")[0]
            if (part.id and id_ == str(part.id)) or (
                (not part.id or not id_) and part.name in (None, span["name"])
            ):
                return key
        return None

    def _span(self, kind: str, message: Message, **parts: Any) -> dict[str, Any]:
        self._position += 1
        model = message.get("model") or self._holder["model"]
        return {
            **self._holder, **self._common, "span_id": f"{self._position}", "kind": kind,
            "parent_id": self._turn, "position": self._position, "time": _time(message),
            "model": model, **parts,
        }  # fmt: skip


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    """The tokens of a step under the names of the function `tokens` of mappings."""

    def first(*names: str) -> Any:
        return next((usage[name] for name in names if usage.get(name) is not None), None)

    details = object_of(
        first("prompt_tokens_details", "input_tokens_details", "input_token_details")
    )
    apart = first("cache_read_input_tokens", "cacheReadInputTokens")
    read = apart if apart is not None else details.get("cached_tokens", details.get("cache_read"))
    cached = ("cachedContentTokenCount", "cached_content_token_count", "cache_read_tokens")
    read = first(*cached) if read is None else read
    return {
        "total": first("total_tokens", "totalTokens", "totalTokenCount", "total_token_count"),
        "input": first("input_tokens", "prompt_tokens", "inputTokens", "promptTokenCount",
                       "prompt_token_count"),
        "output": first("output_tokens", "completion_tokens", "outputTokens",
                        "candidatesTokenCount", "candidates_token_count"),
        "cached": [read, first("cache_creation_input_tokens", "cacheWriteInputTokens")],
        "apart": apart is not None,
    }  # fmt: skip


def _error(error: Any) -> Any:
    return error.get("message") or "failed" if isinstance(error, dict) else error


def _time(message: Mapping[str, Any]) -> Any:
    time = next((message[name] for name in _TIMES if message.get(name) is not None), None)
    if isinstance(time, int | float) and not isinstance(time, bool) and time < _SECONDS_BELOW:
        return time * 1000
    return time


def conversations(
    path: str, records: Iterator[tuple[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Conversations, each with a name by its file: messages that stand alone are one together."""
    stem = PurePath(path).name.partition(".")[0]
    alone: list[Message] = []
    for number, (position, record) in enumerate(records, 1):
        if is_message(record):
            alone.append(record)
            continue
        holder = record if isinstance(record, dict) else {"messages": record}
        yield position, {**holder, _DEFAULT_NAME: f"{stem}:{number}", PLACE: position}
    if alone:
        yield path, {"messages": alone, _DEFAULT_NAME: stem, PLACE: path}
