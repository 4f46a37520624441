"""Calls that a model's provider ran itself, as the output of the model shows them.

Anthropic's server tools, hosted tools of OpenAI's Responses, Gemini's grounding, Groq's executed
tools, Perplexity's results, and the same in the messages of LangChain, pydantic-ai, Inspect and
the AI SDK.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from goodgain.pipeline.convert.importing.answers.written_values import read_within

Block = dict[str, Any]

# A text without any of these, in any case, is not decoded.
_MARKS = (
    "server_tool", "search_call", "mcp_", "builtin", "grounding", "executed_tools",
    "providerexecuted", "tool_type", "search_results",
)  # fmt: skip


class Call(Struct, frozen=True):
    """A call of a tool that a model asks for."""

    id: str | None
    name: str
    arguments: Any


class Returned(Struct, frozen=True):
    """What a call returned; without an id it belongs to the oldest open call of that name."""

    id: str | None
    name: str | None
    answer: Any
    error: Any = None


Reader = Callable[[Block], Iterator[Call | Returned]]


def find_provider_calls(output: Any) -> list[tuple[Call, Returned | None]]:
    """The calls anywhere within a model's output, in order, each with what it returned.

    Args:
      output: a response of a provider or a message, also as JSON or as Python prints it.
    """
    calls: dict[Any, tuple[Call, Returned | None]] = {}
    for number, part in enumerate(read_within(output, _MARKS, _OF_KEYS, reader_of)):
        if isinstance(part, Call):
            calls.setdefault(part.id or number, (part, None))
            continue
        number_of_call = next((key for key, (call, _) in calls.items() if call.id == part.id), None)
        if number_of_call is not None:
            call, known = calls[number_of_call]
            calls[number_of_call] = call, known or part
    return list(calls.values())


def reader_of(block: Block) -> Reader | None:
    """What reads a block of a call that a provider ran, or of its result; None for other blocks."""
    type_ = type_of_block(block)
    if type_ in _READERS:
        return _READERS[type_]
    if type_ == "tool_use" and "tool_type" in block:
        return _of_inspect
    if type_.endswith("_tool_result") or (type_ in _RETURNED and _is_of_provider(block)):
        return read_result
    return read_call if type_ in _ASKED and _is_of_provider(block) else None


def type_of_block(block: Block) -> str:
    """The type of a block, as it names it; "" if it does not."""
    type_ = block.get("type") or block.get("part_kind")
    return type_ if isinstance(type_, str) else ""


def read_call(block: Block) -> Iterator[Call]:
    """The call of a block that asks for one."""
    name = block.get("name") or block.get("tool_name") or block.get("toolName")
    arguments = next(
        (block[key] for key in ("input", "arguments", "args") if block.get(key) is not None), None
    )
    yield Call(_id(block), str(name or ""), arguments)


def read_result(block: Block) -> Iterator[Returned]:
    """The result of a call, of a block that holds one."""
    answer = next((block[key] for key in _ANSWERS if key in block), None)
    failed = block.get("is_error") is True or block.get("status") == "error"
    error = answer if failed and isinstance(answer, str) else ("failed" if failed else None)
    name = block.get("name") or block.get("tool_name") or block.get("toolName")
    yield Returned(_id(block), name, answer, error)


def read_grounding(metadata: Any) -> Iterator[Call | Returned]:
    """The search that Gemini's grounding metadata describe."""
    if not isinstance(metadata, dict):
        return
    chunks = metadata.get("groundingChunks") or metadata.get("grounding_chunks") or []
    of_web = metadata.get("webSearchQueries") or metadata.get("web_search_queries") or []
    of_files = metadata.get("retrievalQueries") or metadata.get("retrieval_queries") or []
    if of_web or of_files or chunks:
        name = "file_search" if of_files and not of_web else "google_search"
        yield Call("grounding", name, {"queries": of_web or of_files})
        yield Returned("grounding", name, {"results": chunks})


def read_executed_tools(tools: Any) -> Iterator[Call | Returned]:
    """The calls of Groq's `executed_tools`."""
    for number, tool in enumerate(tools if isinstance(tools, list) else ()):
        if isinstance(tool, dict):
            id_, name = f"executed {number}", str(tool.get("type"))
            found = tool.get("search_results") or tool.get("browser_results")
            yield Call(id_, name, tool.get("arguments"))
            yield Returned(id_, name, found or tool.get("output"))


def read_listed_search(results: Any) -> Iterator[Call | Returned]:
    """The search whose results stand beside an answer, as Perplexity has them, without a query."""
    if isinstance(results, list) and results:
        yield Call("search_results", "web_search", None)
        yield Returned("search_results", "web_search", results)


def _is_of_provider(block: Block) -> bool:
    return block.get("builtin") is True or block.get("providerExecuted") is True


def _id(block: Block) -> Any:
    names = ("tool_use_id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "id")
    return next((block[name] for name in names if block.get(name)), None)


def _web_search(block: Block) -> Iterator[Call | Returned]:
    """OpenAI's hosted search: an action that searches, opens a page, or finds in it."""
    action = block.get("action")
    action = action if isinstance(action, dict) else {}
    kind = action.get("type") or "search"
    name = "web_search" if kind == "search" else str(kind)
    yield Call(block.get("id"), name, action or {"query": block.get("query")})
    found = action.get("sources", block.get("results"))
    yield Returned(block.get("id"), name, found, _failure(block))


def _file_search(block: Block) -> Iterator[Call | Returned]:
    yield Call(block.get("id"), "file_search", {"queries": block.get("queries")})
    yield Returned(block.get("id"), "file_search", block.get("results"), _failure(block))


def _of_mcp(block: Block) -> Iterator[Call | Returned]:
    name = str(block.get("name") or "")
    yield Call(block.get("id"), name, block.get("arguments"))
    yield Returned(block.get("id"), name, block.get("output"), block.get("error"))


def _of_inspect(block: Block) -> Iterator[Call | Returned]:
    yield from read_call(block)
    yield Returned(_id(block), block.get("name"), block.get("result"), block.get("error"))


def _failure(block: Block) -> str | None:
    return "failed" if block.get("status") == "failed" else None


_ANSWERS = ("content", "output", "result", "response")
_ASKED = ("tool_call", "tool-call")
_RETURNED = ("tool_call_response", "tool-result")
_READERS: dict[str, Reader] = {
    **dict.fromkeys(("server_tool_use", "mcp_tool_use", "server_tool_call"), read_call),
    "builtin-tool-call": read_call,
    **dict.fromkeys(("server_tool_result", "builtin-tool-return"), read_result),
    "web_search_call": _web_search,
    "file_search_call": _file_search,
    "mcp_call": _of_mcp,
}
_OF_KEYS: dict[str, Callable[[Any], Iterator[Call | Returned]]] = {
    **dict.fromkeys(("groundingMetadata", "grounding_metadata"), read_grounding),
    "executed_tools": read_executed_tools,
    "search_results": read_listed_search,
}
