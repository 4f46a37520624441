"""Options as keyword arguments of a Python function."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from goodgain.pipeline.settings.config_file import read_config_file
from goodgain.pipeline.settings.option_fields import field_of, keyword_of
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.pipeline.settings.wording import as_argument
from goodgain.transforms.core.config_text import describe_mistake, describe_unknown
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.remedy import word

_Settings = TypeVar("_Settings", bound=Settings)


def from_keywords(
    model: type[_Settings],
    arguments: Mapping[str, Any],
    fixed: Mapping[str, Any],
    config: str | None = None,
) -> _Settings:
    """The options that keyword arguments give, checked.

    Args:
      arguments: by keyword; None = default. Paths, tuples and sets are accepted for text and lists.
      fixed: values by field, which are not arguments.
      config: a YAML file with options, which `arguments` override.

    Raises:
      UsageError: an option is unknown or has a wrong value; the message lists every mistake.
    """
    keywords = {keyword_of(*field): field[0] for field in model.model_fields.items()}
    known = {key: name for key, name in keywords.items() if key and name not in fixed}
    mistakes = [describe_unknown(key, sorted(known)) for key in arguments if key not in known]
    every = f" The options are {', '.join(sorted(known))}." if mistakes else ""
    values: dict[str, Any] = {}
    if config is not None:
        file = read_config_file(config, model)
        mistakes += [f"{config}:{line}: {what}" for line, what in file.mistakes]
        values.update(file.values)
    given = {known[key]: value for key, value in arguments.items() if key in known}
    values |= {name: _plain(value) for name, value in given.items() if value is not None}
    try:
        checked = model.model_validate({**values, **fixed})
    except ValidationError as error:
        mistakes += [
            f"{_keyword(mistake, model)} {word(describe_mistake(mistake), as_argument)}"
            for mistake in error.errors()
        ]
    if mistakes:
        listed = "; ".join(mistakes)
        end = "" if listed.endswith("?") else "."
        raise UsageError(f"The options cannot be used: {listed}{end}{every}")
    return checked


def _plain(value: Any) -> Any:
    """A value as a file would hold it."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return list(value) if isinstance(value, tuple | set | frozenset) else value


def _keyword(error: Any, model: type[Settings]) -> str:
    name = field_of(error)
    field = model.model_fields.get(name)
    return name if field is None else keyword_of(name, field) or name
