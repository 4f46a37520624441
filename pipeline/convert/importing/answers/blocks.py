"""The blocks of content in which MCP and the interfaces of models wrap answers."""

from __future__ import annotations

from typing import Any

from goodgain.pipeline.convert.importing.answers.document_fields import url_of

# Blocks of content, by their types in MCP and in the interfaces of models.
_TEXT_BLOCKS = frozenset(("text", "output_text", "input_text", "json"))
_RESULT_BLOCKS = frozenset(
    (
        *("tool_result", "web_search_tool_result", "web_fetch_tool_result", "function_call_output"),
        *("mcp_tool_result", "tool-result", "resource", "content", "tool", "function"),
        *("web_fetch_result", "tool_return", "tool-return", "tool_call_response"),
    )
)
_OTHER_BLOCKS = frozenset(
    (
        *("image", "image_url", "audio", "tool_use", "tool_call", "tool-call", "server_tool_use"),
        *("function_call", "thinking", "reasoning", "ai", "human", "system", "tool_reference"),
    )
)
_CALL_IDS = frozenset(("tool_call_id", "tool_use_id", "toolUseId", "toolCallId"))
_OTHER_ROLES = frozenset(("user", "assistant", "system", "human", "ai", "developer", "model"))


def is_block(value: dict[str, Any]) -> bool:
    """Whether an object wraps an answer or a part of one, and so is no document itself."""
    type_ = word_of(value, "type") or word_of(value, "block_type")
    if type_ in _RESULT_BLOCKS or word_of(value, "role") in ("tool", "function"):
        return True
    if not _CALL_IDS.isdisjoint(value):
        return True
    if type_ in _TEXT_BLOCKS:
        return url_of(value) is None and "title" not in value
    return value.keys() <= {"text", "json"} and len(value) == 1


def is_other_block(value: Any) -> bool:
    """Whether an object is a part of a conversation that is no answer."""
    if not isinstance(value, dict):
        return False
    is_message = "content" in value and word_of(value, "role") in _OTHER_ROLES
    return is_message or word_of(value, "type") in _OTHER_BLOCKS


def word_of(value: dict[str, Any], name: str) -> str:
    """The text under a name; "" if there is none."""
    word = value.get(name)
    return word if isinstance(word, str) else ""
