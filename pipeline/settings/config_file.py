"""Configuration files in YAML, merged with the command line; their JSON Schemas for editors."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, TypeVar

import yaml
from msgspec import Struct
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import PydanticJsonSchemaWarning

from goodgain.pipeline.settings.option_fields import field_of, flag_of, key_of
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.transforms.core.config_text import config_text, describe_mistake, describe_unknown
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.remedy import Remedy, word
from goodgain.transforms.core.yaml_text import (
    Mistake,
    describe_repeated_key,
    list_mistakes,
    parse_yaml,
)


class ConfigFile(Struct, frozen=True):
    """The content of a configuration file.

    Attributes:
      values: by field of the configuration.
      lines: the line, from 1, on which each value begins.
      mistakes: found before the values are checked.
    """

    name: str
    values: dict[str, Any]
    lines: dict[str, int]
    mistakes: list[Mistake]


# Options of commands that are not part of the configuration.
_NOT_IN_FILES = ("config", "json", "quiet")
# Keys of a field's schema that are not for files.
_ONLY_IN_HELP = ("flag", "for_workers", "group", "keyword", "metavar", "positional", "title")
# What pydantic calls limits where it does not know them to be of numbers.
_LIMITS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_NO_FILE = ConfigFile("", {}, {}, [])
_Config = TypeVar("_Config", bound=Settings)


def load_config(
    model: type[_Config],
    options: Mapping[str, Any],
    path: str | None = None,
    file_model: type[Settings] | None = None,
    has_file: bool = True,
) -> _Config:
    """Merge a file and options into a configuration; options win.

    Args:
      options: values from the command line by field name, as text or lists of text.
      has_file: whether the command takes options from a file at all.
      file_model: its fields are the keys of the file, if it has more than `model`, which ignores
        the others.

    Raises:
      UsageError: the file cannot be read, or anything in file or options is wrong; the message
        lists every mistake, with its line if it is in the file.
    """
    file = _NO_FILE if path is None else read_config_file(path, file_model or model)
    mistakes = list(file.mistakes)
    values = {name: value for name, value in file.values.items() if name in model.model_fields}
    try:
        config = model.model_validate({**values, **options})
    except ValidationError as error:
        mistakes += [
            _mistake(mistake, file, options, model, has_file) for mistake in error.errors()
        ]
    else:
        if not mistakes:
            return config
    raise UsageError(f"The configuration cannot be used:{list_mistakes(file.name, mistakes)}")


def read_config_file(path: str, model: type[Settings]) -> ConfigFile:
    """Read a file that sets fields of a model.

    Its keys are their flags or names, with `-` or `_` between words.

    Raises:
      UsageError: it cannot be read, is not YAML, or is not a mapping.
    """
    return parse_config_text(config_text(path, "the options"), path, model)


def parse_config_text(text: str, name: str, model: type[Settings]) -> ConfigFile:
    """Like `read_config_file`, but from text that messages call `name`.

    Raises:
      UsageError: it is not YAML, or not a mapping.
    """
    file = parse_yaml(text, name)
    if file.tree is None:
        return ConfigFile(name, {}, {}, [])
    if not isinstance(file.tree, yaml.MappingNode):
        raise UsageError(f"{file.place()}: expected one option per line, like `output: DIR`.")
    fields = {key_of(*field): field[0] for field in model.model_fields.items()}
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    mistakes = file.find_repeated_keys()
    by_text = {str(key): value for key, value in file.content.items()}
    for key, _ in file.tree.value:  # repeated keys included
        written, line = key.value, key.start_mark.line + 1
        key_text = written.replace("-", "_")
        field = fields.get(key_text, key_text)
        if field in _NOT_IN_FILES:
            mistakes.append((line, f"{written} can only be given on the command line"))
        elif field not in model.model_fields:
            mistakes.append((line, describe_unknown(field, fields, written)))
        elif field in values:
            mistakes.append((line, describe_repeated_key(written)))
        else:
            values[field], lines[field] = by_text.get(written), line
    return ConfigFile(name, values, lines, list(dict.fromkeys(mistakes)))


def _mistake(
    error: Any,
    file: ConfigFile,
    options: Mapping[str, Any],
    model: type[Settings],
    has_file: bool,
) -> Mistake:
    """The line in the file (0 for a mistake that is not in it), and what is wrong."""
    field = field_of(error)
    info = model.model_fields.get(field, FieldInfo())
    option = flag_of(field, info)
    if error["type"] == "missing":
        how = ": give it as an option or in a --config file" if has_file else ""
        return 0, f"{option} is missing{how}"
    if field in file.values and field not in options:
        return file.lines[field], f"{key_of(field, info)} {word(_reason(error), _entry)}"
    return 0, f"{option} {_reason(error)}"


def _entry(remedy: Remedy) -> str:
    """An option as it stands in a file, like `max_i: 20`."""
    return remedy.option if remedy.value is None else f"{remedy.option}: {remedy.value}"


def _reason(error: Any) -> str:
    message = describe_mistake(error)
    shown = error["input"]
    if error["type"] != "value_error" and isinstance(shown, str | int | float):
        message += f", not {shown!r}"
    return message


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a file whose keys are the fields of a model.

    If the fields are options of a command, the file need not hold the required ones, and may spell
    a key as on the command line.
    """
    with warnings.catch_warnings():
        # Pydantic leaves out defaults of our own types, since a file cannot hold them, and warns.
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
        schema = _clean(model.model_json_schema())
    schema.pop("description", None)
    if issubclass(model, Settings):
        schema.pop("required", None)
        _add_spellings(schema, model)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _add_spellings(schema: dict[str, Any], model: type[Settings]) -> None:
    """Name properties like options, and accept other spellings, which editors do not suggest.

    Descriptions name other options as a file does.
    """
    named: dict[str, Any] = {}
    patterns = {}
    for name, field in model.model_fields.items():
        key = key_of(name, field)
        described = schema["properties"][name]
        named[key] = {**described, "description": word(field.description or "", _entry)}
        for other in {name, key.replace("_", "[-_]")} - {key}:
            patterns[f"^{other}$"] = {"$ref": f"#/properties/{key}"}
    schema["properties"], schema["patternProperties"] = named, patterns


def _clean(schema: Any) -> Any:
    """With limits by their names in JSON Schema, without what only `--help` uses and docstrings."""
    if isinstance(schema, list):
        return [_clean(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    cleaned = {}
    for name, value in schema.items():
        if name in ("properties", "$defs"):
            cleaned[name] = {key: _clean(part) for key, part in value.items()}
        elif name not in _ONLY_IN_HELP and not (name == "description" and "properties" in schema):
            cleaned[_LIMITS.get(name, name)] = _clean(value)
    return cleaned
