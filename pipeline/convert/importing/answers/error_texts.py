"""What answers say about a failure."""

from __future__ import annotations

from typing import Any

_LONGEST_ERROR = 500
_STACK = "Traceback (most recent call last)"


def error_text(told: str) -> str:
    """What a call said about its failure, without a stack trace behind it, and not at length."""
    before = told.partition(_STACK)[0].strip()
    return (before or told.strip().rpartition("\n")[2])[:_LONGEST_ERROR]


def plain_error(value: Any) -> str | None:
    """The text of an error: a string, its message, or the text of its blocks."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, dict):
        named = (value.get(name) for name in ("message", "text", "error", "error_code", "code"))
        return next((text for text in map(plain_error, named) if text), None)
    if isinstance(value, list):
        return " ".join(text for text in map(plain_error, value) if text) or None
    return None
