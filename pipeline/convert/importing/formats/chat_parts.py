"""The parts of a chat message, whatever interface wrote it: calls, their results, citations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from goodgain.pipeline.convert.importing.answers.citations import (
    documents_of_citations,
    documents_of_grounding,
)
from goodgain.pipeline.convert.importing.answers.provider_calls import (
    Call,
    Returned,
    read_call,
    read_executed_tools,
    read_grounding,
    read_result,
    reader_of,
    type_of_block,
)
from goodgain.pipeline.convert.importing.formats.format import object_of
from goodgain.pipeline.convert.importing.formats.tagged_calls import calls_of_text

Block = dict[str, Any]


class Cited(Struct, frozen=True):
    """Documents that a text of the assistant cites."""

    documents: list[Any]


class NextStep(Struct, frozen=True):
    """The beginning of a further step within a message."""


class Said(Struct, frozen=True):
    """A text, or anything else that is neither call nor result."""


Part = Call | Returned | Cited | NextStep | Said


def parts_of(message: Block) -> Iterator[Part]:
    """The parts of a message in order: those in its content, then calls beside it."""
    if "tool_call_id" in message or message.get("role") in ("tool", "function"):
        yield from _of_tool(message)
        return
    for holder in (message.get("content"), message.get("parts"), message.get("toolInvocations")):
        blocks = holder if isinstance(holder, list) else ()
        for number, block in enumerate(filter(None, map(object_of, blocks))):
            if type_of_block(block) != "step-start":
                yield from _of_block(block)
            elif number:
                yield NextStep()
        if isinstance(holder, str) and holder.strip():
            yield from _of_text(holder)
    yield from _citations(message.get("annotations"))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        yield _of_call(object_of(call))
    if isinstance(message.get("function_call"), dict):
        yield _of_call(message["function_call"])
    yield from read_executed_tools(message.get("executed_tools"))


def parts_of_item(item: Block) -> Iterator[Part]:
    """The parts of an item that is no message, as in OpenAI's Responses."""
    yield from _of_block(item)


def parts_of_grounding(metadata: Block) -> Iterator[Part]:
    """The search that Gemini's grounding describes, and the chunks that its answer rests on."""
    yield from read_grounding(metadata)
    cited = documents_of_grounding(metadata)
    if cited:
        yield Cited(cited)


def _of_text(text: str) -> Iterator[Part]:
    """A text with the calls and results that models without an interface for tools write in it."""
    is_answered = False
    yield Said()
    for part in calls_of_text(text):
        if is_answered and isinstance(part, Call):
            yield NextStep()
        is_answered = isinstance(part, Returned)
        yield part


def _of_tool(message: Block) -> Iterator[Part]:
    """A message that is the result of a call, or of several."""
    content = message.get("content")
    several = content if isinstance(content, list) else ()
    results = [
        part
        for part in map(object_of, several)
        if type_of_block(part) in ("tool-result", "tool_result")
    ]
    for block in results:
        yield from _of_block(block)
    if not results:
        id_ = message.get("tool_call_id") or message.get("call_id")
        name = message.get("name") or message.get("function") or message.get("tool_name")
        yield Returned(id_, name, _answer(message), message.get("error"))


def _answer(message: Block) -> Any:
    """A tool's message with what stands beside its content, if the content may be incomplete."""
    beside = {name: message[name] for name in ("artifact", "status") if message.get(name)}
    content = message.get("content")
    return {"type": "tool", "content": content, **beside} if beside else content


def _of_call(call: Block) -> Call:
    function = call.get("function")
    of_function = object_of(function)
    name = of_function.get("name") or call.get("name") or call.get("tool_name") or function
    arguments = (of_function or call).get("arguments", call.get("args", call.get("input")))
    return Call(call.get("id") or call.get("call_id"), str(name or ""), arguments)


def _of_block(block: Block) -> Iterator[Part]:
    type_ = type_of_block(block)
    reader = reader_of(block) or _READERS.get(type_)
    if reader is not None:
        yield from reader(block)
        return
    if "toolCallId" in block and (type_.startswith("tool-") or type_ in ("dynamic-tool", "")):
        yield from _of_interface(block)  # of the AI SDK
        return
    for key, read in _KEYED.items():
        if isinstance(block.get(key), dict):
            yield from read(block[key])
            return
    if isinstance(block.get("text"), str):
        yield from _of_text(block["text"])
    yield Said()
    yield from _citations(block.get("annotations"))
    yield from _citations(block.get("citations"))


def _of_interface(block: Block) -> Iterator[Part]:
    id_ = block["toolCallId"]
    name = block.get("toolName") or type_of_block(block).removeprefix("tool-")
    yield Call(id_, name, block.get("input", block.get("args")))
    found = block.get("output", block.get("result"))
    if found is not None or "errorText" in block:
        yield Returned(id_, name, found, block.get("errorText"))


def _citations(citations: Any) -> Iterator[Part]:
    documents = documents_of_citations(citations)
    if documents:
        yield Cited(documents)


_READERS: dict[str, Callable[[Block], Iterator[Part]]] = {
    **dict.fromkeys(("tool_use", "function_call", "tool-call", "tool_call"), read_call),
    **dict.fromkeys(
        ("tool_result", "tool-result", "function_call_output", "tool-return"), read_result
    ),
    **dict.fromkeys(("tool_call_response", "retry-prompt"), read_result),
}
# Blocks that name their kind by their only key: Gemini's and Bedrock's.
_KEYED: dict[str, Callable[[Block], Iterator[Part]]] = {
    **dict.fromkeys(("functionCall", "function_call", "toolUse"), read_call),
    **dict.fromkeys(("functionResponse", "function_response", "toolResult"), read_result),
}
