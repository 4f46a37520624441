"""Reads a user's YAML file and reports every mistake in it at once, with its line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib import resources
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from goodgain.transforms.core.dedup.rules_file import RulesFile, read_rules, shipped_rules
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.yaml_text import (
    Location,
    line_of,
    parse_yaml,
    read_text,
    repeated_keys,
)

_SHIPPED = "goodgain:"
_SUFFIX = ".yaml"
_REASONS = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "dict_type": "must be names, or names with values",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "missing": "is missing",
    "model_type": "must be options, like `name: value`",
    "string_too_short": "must not be empty",
    "string_type": "must be text",
    "too_short": "must have at least one entry",
    "tuple_type": "must be a list",
}
_Model = TypeVar("_Model", bound=BaseModel)


def config_text(path: str, what: str) -> str:
    """The text of a configuration file.

    Args:
      path: a local file, or `goodgain:NAME` for one shipped with the package.
      what: the expected content, for the message.

    Raises:
      UsageError: it cannot be read, is not text, or no such file is shipped.
    """
    if not path.startswith(_SHIPPED):
        return read_text(path, what)
    name = path.removeprefix(_SHIPPED).removesuffix(_SUFFIX)
    folder = resources.files("goodgain.configs")
    known = sorted(one.name for one in folder.iterdir() if one.name.endswith(_SUFFIX))
    if name + _SUFFIX not in known:
        names = ", ".join(_SHIPPED + one.removesuffix(_SUFFIX) for one in known)
        raise UsageError(f"{path} is not shipped with Good Gain; choose from {names}.")
    return (folder / (name + _SUFFIX)).read_text(encoding="utf-8")


def read_model(
    model: type[_Model],
    text: str,
    name: str,
    what: str,
    describe: Callable[[Any], str],
    context: Any = None,
) -> _Model:
    """The values in a YAML text.

    Args:
      name: what messages call the file.
      what: what messages call its content, like "The gate".
      describe: puts a pydantic error into words; see `reason` and `unknown`.
      context: for the model's validators.

    Raises:
      UsageError: it is not YAML, or does not fit the model; the message lists every mistake, those
        without a line first.
    """
    tree, content = parse_yaml(text, name)
    mistakes = {(line, repeated(key)) for line, key in repeated_keys(tree)}
    try:
        values = model.model_validate(content, context=context)
    except ValidationError as error:
        for one in error.errors():
            location: Location = one["loc"]
            # A missing key has no line of its own: report it at the mapping that lacks it.
            line_location = location[:-1] if one["type"] == "missing" else location
            mistakes.add((line_of(tree, line_location) if line_location else 0, describe(one)))
    else:
        if not mistakes:
            return values
    lines = [
        f"{name}:{line}: {one}" if line else f"{name}: {one}" for line, one in sorted(mistakes)
    ]
    raise UsageError(f"{what} cannot be used:\n  " + "\n  ".join(lines))


def repeated(key: str) -> str:
    """The message for a key that occurs twice in one mapping."""
    return f"{key} appears here a second time"


def unknown(field: str, known: Iterable[str], written: str | None = None) -> str:
    """The message for an unknown option, with the one that was likely meant."""
    near = get_close_matches(field, list(known), n=1)
    return f"{written or field} is not an option" + (f"; did you mean {near[0]}?" if near else "")


def reason(error: Any) -> str:
    """The mistake in a value, as a phrase that follows the name of its field."""
    message: str = error["msg"]
    if error["type"] == "value_error":
        return message.removeprefix("Value error, ")
    message = _REASONS.get(error["type"], message).replace("Input should be", "must be")
    message = message.replace("greater than or equal to", "at least")
    message = message.replace("less than or equal to", "at most")
    return message[:1].lower() + message[1:]


def load_rules(path: str | None) -> RulesFile:
    """Read a rules file, by default the shipped one.

    Raises:
      UsageError: the file cannot be read.
      RulesError: it contains mistakes.
    """
    if path is None:
        return shipped_rules()
    return read_rules(config_text(path, "the rules"), path)
