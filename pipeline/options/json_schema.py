"""JSON Schemas of configuration files, with which editors complete names and mark mistakes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import PydanticJsonSchemaWarning

from goodgain.pipeline.options.scoring_config import ScoringConfig

_OURS = ("flag", "group", "metavar", "title")


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a file whose keys are the fields of a model.

    If the fields are options of a command, the file need not hold the required ones, and may spell
    a key as on the command line.
    """
    with warnings.catch_warnings():
        # Pydantic leaves out defaults of our own types, since a file cannot hold them, and warns.
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
        schema = _cleaned(model.model_json_schema())
    schema.pop("description", None)
    if issubclass(model, ScoringConfig):
        schema.pop("required", None)
        schema["patternProperties"] = dict(_other_spellings(model))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _other_spellings(model: type[ScoringConfig]) -> Iterator[tuple[str, Any]]:
    """By pattern of a key, the property that it stands for; editors complete the property only."""
    for field in model.model_fields:
        if "_" in field:
            yield f"^{field.replace('_', '[-_]')}$", {"$ref": f"#/properties/{field}"}


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
