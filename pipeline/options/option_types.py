"""Types of option values, and the metadata of a field.

Each field declares its type, default and help text once; command line options, keys of a
configuration file and tables in the docs are made from it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

DATA = "Data"
TIME = "Event time"
SCORING = "Scoring"
MEANS = "Means"
RANKING = "Ranking metrics"
RUN = "Run"
GROUPS = (DATA, TIME, SCORING, MEANS, RANKING, RUN)  # in the order in which they are shown

Format = Literal["avro", "parquet", "jsonl"]
Text = Annotated[str, StringConstraints(min_length=1)]


def _as_list(value: Any) -> Any:
    """Turn a single string into a list of one."""
    return [value] if isinstance(value, str) else value


def _split_at_commas(value: Any) -> Any:
    """Split strings at commas."""
    value = _as_list(value)
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        return value
    return [name.strip() for entry in value for name in entry.split(",")]


def _slices(value: Any) -> Any:
    """Turn slices that are strings with commas into lists of attribute names."""
    value = _as_list(value)
    if not isinstance(value, list):
        return value
    return [_split_at_commas(one) if isinstance(one, str) else one for one in value]


def _mapping(value: Any) -> Any:
    """Turn renamed fields, a mapping or strings with commas, into a list like `gain=relevance`."""
    if isinstance(value, dict):
        return [f"{field}={name}" for field, name in value.items()]
    return [entry for entry in _split_at_commas(value) or () if entry]


def _refuse_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"must be a number, not {str(value).lower()}")
    return value


# JSON Schemas of the values in a file, for editors.
_TEXT_SCHEMA: dict[str, Any] = {"type": "string", "minLength": 1}
_TEXTS_SCHEMA = {"anyOf": [_TEXT_SCHEMA, {"type": "array", "items": _TEXT_SCHEMA}]}
_SLICES_SCHEMA = {"anyOf": [_TEXT_SCHEMA, {"type": "array", "items": _TEXTS_SCHEMA}]}

Number = Annotated[int, BeforeValidator(_refuse_boolean)]
Patterns = Annotated[
    tuple[Text, ...], BeforeValidator(_as_list), Field(min_length=1), WithJsonSchema(_TEXTS_SCHEMA)
]
Slices = Annotated[
    tuple[Annotated[tuple[Text, ...], Field(min_length=1)], ...],
    BeforeValidator(_slices),
    WithJsonSchema(_SLICES_SCHEMA),
]
Mapping = Annotated[
    tuple[str, ...],
    BeforeValidator(_mapping),
    WithJsonSchema(
        {
            "type": ["string", "array", "object"],
            "items": {"type": "string"},
            "additionalProperties": {"type": "string"},
        }
    ),
]
Names = Annotated[tuple[str, ...], BeforeValidator(_split_at_commas), WithJsonSchema(_TEXTS_SCHEMA)]
BudgetTexts = Annotated[tuple[Text, ...], BeforeValidator(_as_list), WithJsonSchema(_TEXTS_SCHEMA)]


def option(
    group: str,
    metavar: str,
    description: str,
    default: Any = ...,
    flag: str | None = None,
    **checks: Any,
) -> Any:
    """A field that is an option.

    Args:
      group: its heading in `--help`.
      flag: its name on the command line, if it differs from the field's.
    """
    extra: JsonDict = {"group": group, "metavar": metavar}
    if flag is not None:
        extra["flag"] = flag
    return Field(default, description=description, json_schema_extra=extra, **checks)


def metadata(field: FieldInfo) -> dict[str, str]:
    """The group, metavar and flag that `option` gave to a field."""
    extra = field.json_schema_extra
    return {key: str(value) for key, value in extra.items()} if isinstance(extra, dict) else {}


def key_of(name: str, field: FieldInfo) -> str:
    """The key of a field in a configuration file: its flag's name, like `max_i`."""
    return metadata(field).get("flag", name)


def flag_of(name: str, field: FieldInfo) -> str:
    """The option of a field on the command line, like `--max-i`."""
    return f"--{key_of(name, field).replace('_', '-')}"
