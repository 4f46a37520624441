"""The parts of a chat message, whatever interface wrote it: calls, their results, citations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from goodgain.pipeline.convert.importing.answers.citations import (
    documents_of_citations,
    documents_of_grounding,
)
from goodgain.pipeline.convert.importing.formats.format import object_of

Block = dict[str, Any]


class Call(Struct, frozen=True):
    """A call of a tool that the assistant asks for."""

    id: str | None
    name: str
    arguments: Any


class Returned(Struct, frozen=True):
    """What a call returned; without an id it belongs to the oldest open call of that name."""

    id: str | None
    name: str | None
    answer: Any
    error: Any = None


class Cited(Struct, frozen=True):
    """Documents that a text of the assistant cites."""

    documents: list[Any]


class Said(Struct, frozen=True):
    """A text, or anything else that is neither call nor result."""


Part = Call | Returned | Cited | Said


def parts_of(message: Block) -> Iterator[Part]:
    """The parts of a message in order: those in its content, then calls beside it."""
    if "tool_call_id" in message or message.get("role") in ("tool", "function"):
        yield from _of_tool(message)
        return
    content = message.get("content")
    for holder in (content, message.get("parts")):
        blocks = holder if isinstance(holder, list) else ()
        for block in filter(None, map(object_of, blocks)):
            yield from _of_block(block)
        if isinstance(holder, str) and holder.strip():
            yield Said()
    yield from _citations(message.get("annotations"))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        yield _of_call(object_of(call))
    if isinstance(message.get("function_call"), dict):
        yield _of_call(message["function_call"])
    executed = message.get("executed_tools")
    for number, tool in enumerate(executed if isinstance(executed, list) else ()):
        one, name = object_of(tool), str(object_of(tool).get("type"))
        yield Call(f"executed {number}", name, one.get("arguments"))
        found = one.get("search_results")
        yield Returned(f"executed {number}", name, found or one.get("output"))


def parts_of_item(item: Block) -> Iterator[Part]:
    """The parts of an item that is no message, as in OpenAI's Responses."""
    yield from _of_block(item)


def grounding(metadata: Block) -> Iterator[Part]:
    """The search that Gemini's grounding describes, and the chunks that its answer rests on."""
    chunks = metadata.get("groundingChunks") or metadata.get("grounding_chunks") or []
    queries = metadata.get("webSearchQueries") or metadata.get("web_search_queries") or []
    if queries or chunks:
        yield Call("grounding", "google_search", {"queries": queries})
        yield Returned("grounding", "google_search", {"results": chunks})
    cited = documents_of_grounding(metadata)
    if cited:
        yield Cited(cited)


def _of_tool(message: Block) -> Iterator[Part]:
    """A message that is the result of a call, or of several."""
    content = message.get("content")
    several = content if isinstance(content, list) else ()
    results = [
        one for one in map(object_of, several) if _type(one) in ("tool-result", "tool_result")
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
    reader = _READERS.get(_type(block))
    if reader is not None:
        yield from reader(block)
    elif _type(block).startswith("tool-") and "toolCallId" in block:  # of the AI SDK's interface
        id_, name = block["toolCallId"], _type(block).removeprefix("tool-")
        yield Call(id_, name, block.get("input", block.get("args")))
        if "output" in block or "errorText" in block:
            yield Returned(id_, name, block.get("output"), block.get("errorText"))
    else:
        for key, read in _KEYED.items():
            if isinstance(block.get(key), dict):
                yield from read(block[key])
                return
        yield Said()
        yield from _citations(block.get("annotations"))
        yield from _citations(block.get("citations"))


def _type(block: Block) -> str:
    type_ = block.get("type") or block.get("part_kind")
    return type_ if isinstance(type_, str) else ""


def _citations(citations: Any) -> Iterator[Part]:
    documents = documents_of_citations(citations)
    if documents:
        yield Cited(documents)


def _asked(block: Block) -> Iterator[Part]:
    name = block.get("name") or block.get("tool_name") or block.get("toolName")
    arguments = next(
        (block[key] for key in ("input", "arguments", "args") if block.get(key) is not None), None
    )
    yield Call(_id(block), str(name or ""), arguments)


def _answered(block: Block) -> Iterator[Part]:
    answer = next(
        (block[key] for key in ("content", "output", "result", "response") if key in block), None
    )
    failed = block.get("is_error") is True or block.get("status") == "error"
    error = answer if failed and isinstance(answer, str) else ("failed" if failed else None)
    yield Returned(_id(block), block.get("name") or block.get("toolName"), answer, error)


def _id(block: Block) -> Any:
    names = ("tool_use_id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "id")
    return next((block[name] for name in names if block.get(name)), None)


def _web_search(block: Block) -> Iterator[Part]:
    """OpenAI's hosted search: an action that searches, opens a page, or finds in it."""
    action = object_of(block.get("action"))
    kind = action.get("type") or "search"
    name = "web_search" if kind == "search" else str(kind)
    yield Call(block.get("id"), name, action or {"query": block.get("query")})
    found = action.get("sources", block.get("results"))
    failed = block.get("status") == "failed"
    yield Returned(block.get("id"), name, found, "failed" if failed else None)


def _file_search(block: Block) -> Iterator[Part]:
    yield Call(block.get("id"), "file_search", {"queries": block.get("queries")})
    failed = block.get("status") == "failed"
    found = block.get("results")
    documents = [
        {**object_of(one), "id": object_of(one).get("file_id")}
        for one in (found if isinstance(found, list) else ())
    ]
    yield Returned(
        block.get("id"), "file_search", None if found is None else documents,
        "failed" if failed else None,
    )  # fmt: skip


_READERS: dict[str, Callable[[Block], Iterator[Part]]] = {
    **dict.fromkeys(("tool_use", "server_tool_use", "function_call", "tool-call"), _asked),
    **dict.fromkeys(("mcp_tool_use", "tool_call"), _asked),
    **dict.fromkeys(
        ("tool_result", "tool-result", "function_call_output", "tool-return"), _answered
    ),
    **dict.fromkeys(("web_search_tool_result", "web_fetch_tool_result"), _answered),
    **dict.fromkeys(("mcp_tool_result", "retry-prompt"), _answered),
    "web_search_call": _web_search,
    "file_search_call": _file_search,
}
# Blocks that name their kind by their only key: Gemini's and Bedrock's.
_KEYED: dict[str, Callable[[Block], Iterator[Part]]] = {
    **dict.fromkeys(("functionCall", "function_call", "toolUse"), _asked),
    **dict.fromkeys(("functionResponse", "function_response", "toolResult"), _answered),
}
