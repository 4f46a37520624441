"""The texts of configuration files, and the words for mistakes in them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import resources
from typing import Any

from goodgain.transforms.core.dedup.rules_file import RulesFile, load_shipped_rules, read_rules
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.yaml_text import read_text

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
    "string_unicode": "must be text in UTF-8",
    "too_short": "must have at least one entry",
    "tuple_type": "must be a list",
}


def config_text(path: str, what: str) -> str:
    """The text of a configuration file.

    Args:
      path: a local file, or `goodgain:NAME` for one shipped with the package.
      what: the expected content, for the message.

    Raises:
      UsageError: it has no name, cannot be read, is not text, or no such file is shipped.
    """
    if not path:
        raise UsageError(f"The file with {what} has no name: give its path.")
    if not path.startswith(_SHIPPED):
        return read_text(path, what)
    name = path.removeprefix(_SHIPPED).removesuffix(_SUFFIX)
    folder = resources.files("goodgain.configs")
    known = sorted(file.name for file in folder.iterdir() if file.name.endswith(_SUFFIX))
    if name + _SUFFIX not in known:
        names = ", ".join(_SHIPPED + name.removesuffix(_SUFFIX) for name in known)
        raise UsageError(f"{path} is not shipped with Good Gain; choose from {names}.")
    return (folder / (name + _SUFFIX)).read_text(encoding="utf-8")


def describe_unknown(field: str, known: Iterable[str], written: str | None = None) -> str:
    """The message for an unknown option, with the one that was likely meant."""
    near = get_close_matches(field, list(known), n=1)
    return f"{written or field} is not an option" + (f"; did you mean {near[0]}?" if near else "")


def describe_mistake(error: Any) -> str:
    """The mistake in a value, as a phrase that follows the name of its field."""
    message: str = error["msg"]
    if error["type"] == "value_error":
        raised = error["ctx"]["error"]
        return raised.args[0] if len(raised.args) == 1 else str(raised)
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
        return load_shipped_rules()
    return read_rules(config_text(path, "the rules"), path)
