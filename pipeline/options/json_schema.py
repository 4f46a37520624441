"""JSON Schemas of configuration files, with which editors complete names and mark mistakes."""

from __future__ import annotations

import warnings
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import PydanticJsonSchemaWarning

_OURS = ("group", "metavar", "title")


def schema_of(model: type[BaseModel], partial: bool = True) -> dict[str, Any]:
    """The JSON Schema of a file whose keys are the fields of a model.

    Args:
      model: its fields are the keys of the file.
      partial: whether required options may be given elsewhere, as on the command line.
    """
    with warnings.catch_warnings():
        # Pydantic leaves out defaults of our own types, since a file cannot hold them, and warns.
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
        schema = _cleaned(model.model_json_schema())
    schema.pop("description", None)
    if partial:
        schema.pop("required", None)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _cleaned(schema: Any) -> Any:
    """Without the keys that only `--help` uses, and without class docstrings."""
    if isinstance(schema, list):
        return [_cleaned(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    cleaned = {}
    for name, value in schema.items():
        if name in ("properties", "$defs"):
            cleaned[name] = {key: _cleaned(one) for key, one in value.items()}
        elif name not in _OURS and not (name == "description" and "properties" in schema):
            cleaned[name] = _cleaned(value)
    return cleaned
