"""Errors of rejected records: a sentence that says which field is wrong, and why (SPEC 3).

Only the messages of `msgspec.ValidationError` say what is wrong and where. They are not part of its
interface; a test checks them for the pinned version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.records.label_map import UNNAMED, label_map_hint
from goodgain.transforms.core.records.likely_fields import CALL_FIELDS, guess_call_field
from goodgain.transforms.core.records.search_call import (
    GREATEST_GAIN,
    LARGEST_COST,
    LARGEST_FLOAT,
    LARGEST_INT,
)
from goodgain.transforms.core.remedy import Remedy

_LONGEST_SHOWN = 60

_WHOLE_FROM_1 = f"a whole number from 1 to {LARGEST_INT}"
_WHOLE_FROM_0 = f"a whole number from 0 to {LARGEST_INT}"
_OUTCOME = "a finite number"
_COST = f"a number from 0 to {LARGEST_COST:g}"
_EXPECTED = {
    "": "an object with named fields",
    "conversation_id": "text that is not blank",
    "iteration": _WHOLE_FROM_1,
    "turn": _WHOLE_FROM_1,
    "call": _WHOLE_FROM_0,
    "turn_count": _WHOLE_FROM_0,
    "timestamp": "ISO 8601 or epoch milliseconds, between the years 1 and 9999",
    "is_final": "true or false",
    "action": "search, open or cite",
    "outcomes": "a map of text to finite numbers",
    "attributes": "a map of text to text",
    "costs": "a map of text to numbers from 0",
    "results": "a list of results",
    "results[]": "an object with named fields",
    "ids": "a map of text to text or lists of text",
    "fields": "a map of text to text or lists of text",
    "gain": f"a whole number from 0 to {GREATEST_GAIN}",
    "score": "a finite number",
    "aspects": "a list of texts",
}


def record_error(record: Any, message: str, original: Any = None) -> RecordError:
    """The error for a record that failed the strict conversion.

    Args:
      record: the coerced record, or a value that is no record at all.
      message: msgspec's.
      original: the record before coercion, with its unknown fields.
    """
    conversation_id = _readable_conversation_id(record)
    if name := find_missing_field(message):
        reason = f"{name} is missing" + _hint(original, name) + "."
        return RecordError(reason, name, conversation_id)
    field, expected, value = _wrong_field(record, path_to_wrong_value(message))
    reason = f"{field or 'A record'} must be {expected}, got " + _show(value)
    if field == "iteration" and type(value) is int and value == 0:
        reason += "; if iterations are counted from 0, add " + Remedy("iteration_base", 0)
    if "text" in expected and isinstance(value, float) and value.is_integer():
        reason += (
            "; tables with gaps turn whole numbers into decimals: write them as text, or as "
            f"{_show(int(value))}"
        )
    if field.endswith("].gain"):
        reason += label_map_hint(value)
    reason += "."
    return RecordError(reason, field or None, conversation_id)


def _hint(record: Any, missing: str) -> str:
    """A hint at an unknown field that may be the missing one, with its --map option; or ""."""
    if not isinstance(record, Mapping):
        return ""
    others = [name for name in record if isinstance(name, str) and name not in CALL_FIELDS]
    similar = next((name for name in others if guess_call_field(name) == missing), None)
    if similar is None:
        return ""
    shown = similar[:_LONGEST_SHOWN].encode("utf-8", "backslashreplace").decode()
    return f"; {shown} looks like it: add " + Remedy("map", {missing: shown})


def find_undecodable(value: Any) -> str | None:
    """Escaped path of the first string or key with a lone surrogate, which UTF-8 cannot encode."""
    path = next(_undecodable(value, ""), None)
    return None if path is None else path.encode("utf-8", "backslashreplace").decode()


def _undecodable(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, str):
        if not value.isprintable() and has_surrogate(value):
            yield path
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            name = f"{path}.{key}" if path else str(key)
            if has_surrogate(str(key)):
                yield name
            yield from _undecodable(entry, name)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _undecodable(entry, f"{path}[{index}]")


def has_surrogate(text: str) -> bool:
    """Whether a text has half of a surrogate pair, which UTF-8 cannot encode."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def _readable_conversation_id(record: Any) -> str | None:
    if not isinstance(record, Mapping):
        return None
    value = record.get("conversation_id")
    return value if isinstance(value, str) and value.strip() else None


def _wrong_field(record: Any, steps: Sequence[str | int]) -> tuple[str, str, Any]:
    """The name of the wrong field with its path, what it must be, and its value."""
    value, name, field = record, "", ""
    for step in steps:
        value = value[step]
        name = f"{name}[]" if isinstance(step, int) else step
        field += f"[{step}]" if isinstance(step, int) else f".{step}"
    field = field.lstrip(".")
    expected = _EXPECTED.get(name, "text")
    if name in ("costs", "outcomes") and isinstance(value, Mapping):
        is_usable, entry_expected = (
            (_is_cost, _COST) if name == "costs" else (_is_outcome, _OUTCOME)
        )
        for key, entry in value.items():
            if type(entry) not in (int, float) or not is_usable(entry):
                return f"{field}.{key}", entry_expected, entry
    if name in ("attributes", "ids", "fields") and isinstance(value, Mapping):
        for key, entry in value.items():
            if not _is_text(entry, lists=name != "attributes"):
                entry_expected = "text" if name == "attributes" else "text or a list of text"
                return f"{field}.{key}", entry_expected, entry
    return field, expected, value


def _is_cost(number: float) -> bool:
    return 0 <= number <= LARGEST_COST


def _is_outcome(number: float) -> bool:
    return abs(number) <= LARGEST_FLOAT


def _is_text(entry: Any, lists: bool) -> bool:
    if lists and isinstance(entry, list):
        return all(isinstance(text, str) for text in entry)
    return isinstance(entry, str)


def _show(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bytes):
        return "bytes that are not UTF-8 text"
    if isinstance(value, str) and value.endswith(UNNAMED):
        return _show(value.removesuffix(UNNAMED))[:-1] + UNNAMED + '"'
    if isinstance(value, str):
        text = "text " + json.dumps(value[:_LONGEST_SHOWN], ensure_ascii=False)
    elif isinstance(value, int) and value.bit_length() > 256:
        text = "a number of more than 70 digits"
    elif isinstance(value, bool | int | float):
        text = json.dumps(value)
    else:
        text = f"{type(value).__name__} {value}"
    return text.encode("utf-8", "backslashreplace").decode()[: _LONGEST_SHOWN + 20]


_PATH = re.compile(r"`\$([^`]*)`$")
_MISSING = re.compile(r"missing required field `(\w+)`")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_INSIDE_MAP = "[...]"


def find_missing_field(message: str) -> str | None:
    """The name of the missing required field; None if a value is wrong."""
    match = _MISSING.search(message)
    return match and match.group(1)


def path_to_wrong_value(message: str) -> tuple[str | int, ...]:
    """Names of fields and positions in lists from the record to the wrong value, or to its map."""
    match = _PATH.search(message)
    path = match.group(1).split(_INSIDE_MAP)[0] if match else ""
    return tuple(int(position) if position else name for name, position in _STEP.findall(path))
