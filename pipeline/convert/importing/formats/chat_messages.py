"""The messages of chats, in the shapes that they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goodgain.pipeline.convert.importing.answers.written_values import decode_json
from goodgain.pipeline.convert.importing.formats.format import object_of

_NAMES = {"human": "user", "ai": "assistant", "model": "assistant", "AIMessageChunk": "assistant"}
_SPEAKERS = frozenset(("user", "assistant", "system", "developer", "tool", "function", *_NAMES))
# Of those that are no speakers by themselves, first pydantic-ai's, then ShareGPT's.
_ROLES = {
    **_NAMES,
    "request": "user",
    "response": "assistant",
    "gpt": "assistant",
    "observation": "tool",
    "function_response": "tool",
}
LISTS = (
    "messages", "contents", "conversation", "history", "trajectory", "items", "chat",
    "conversations",
)  # fmt: skip
_ITEMS = ("_call", "_call_output", "reasoning", "_tool_result")
Message = dict[str, Any]


def is_message(value: Any) -> bool:
    """Whether an object is one message of a chat, or an item beside messages."""
    if not isinstance(value, dict) or any(isinstance(value.get(name), list) for name in LISTS[:2]):
        return False
    speaks = value.get("role") in _SPEAKERS or value.get("type") in _SPEAKERS
    speaks |= isinstance(value.get("from"), str) and "value" in value
    return speaks or value.get("kind") in ("request", "response") or is_item(value)


def plain_message(message: Message) -> Message:
    """A message with its role, out of the envelopes of LangChain and of session files."""
    if isinstance(message.get("from"), str) and "value" in message:
        message = _of_sharegpt(message)
    inner = message.get("data") or message.get("kwargs") or message.get("message")
    if isinstance(inner, dict) and ("content" in inner or "parts" in inner):
        message = {**message, **inner}
    role = message.get("role") or message.get("kind") or message.get("type")
    if message.get("lc") and isinstance(message.get("id"), list):
        kind = str(message["id"][-1]).lower()
        role = next((name for name in ("human", "ai", "tool", "system") if name in kind), role)
    return {**message, "role": _ROLES.get(str(role), role)}


def _of_sharegpt(message: Message) -> Message:
    """A message of ShareGPT's shape, whose calls are messages of their own."""
    if message["from"] == "function_call":
        return {
            "role": "assistant",
            "function_call": object_of(decode_json(str(message["value"]))),
        }
    return {"role": message["from"], "content": message["value"]}


def is_item(message: Mapping[str, Any]) -> bool:
    """Whether it is an item beside messages, as the Responses API lists them."""
    return str(message.get("type", "")).endswith(_ITEMS)
