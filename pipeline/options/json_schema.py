"""JSON Schemas of configuration files, with which editors complete names and mark mistakes."""

from __future__ import annotations

import warnings
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import PydanticJsonSchemaWarning

from goodgain.pipeline.options.option_types import key_of
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
        _add_spellings(schema, model)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _add_spellings(schema: dict[str, Any], model: type[ScoringConfig]) -> None:
    """Name properties like options, and accept other spellings, which editors do not suggest."""
    named, patterns = {}, {}
    for name, field in model.model_fields.items():
        key = key_of(name, field)
        named[key] = schema["properties"][name]
        for other in {name, key.replace("_", "[-_]")} - {key}:
            patterns[f"^{other}$"] = {"$ref": f"#/properties/{key}"}
    schema["properties"], schema["patternProperties"] = named, patterns


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
