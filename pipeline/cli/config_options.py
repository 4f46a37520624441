"""Options made from the fields of the configuration, for `--help` and for the docs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic.fields import FieldInfo

from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.option_fields import GROUPS, flag_of, is_argument, is_flag, metadata
from goodgain.pipeline.settings.reading_config import Settings

_Model = type[Settings]
_Options = TypeVar("_Options", bound=Settings)
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")


def add_config_options(
    parser: argparse.ArgumentParser,
    model: _Model,
    file: str | None = None,
) -> None:
    """Declare an option, in its group, for each field of a configuration.

    If all are of one group, it has no heading.

    Values stay text and have no defaults: `load_config` checks them together with the file.

    Args:
      file: help of `--config`, if the options can also stand in a file.
    """
    fields = _fields(model, ())
    named = [field for _, field in fields if not is_argument(field)]
    titles = dict.fromkeys(metadata(field)["group"] for field in named)
    groups: dict[str, Any] = {
        title: parser.add_argument_group(title[:1].lower() + title[1:])
        if len(titles) > 1
        else parser
        for title in titles
    }
    can_be_revoked = file is not None
    for name, field in fields:
        title = metadata(field)["group"]
        if is_argument(field):
            _add_argument(parser, name, field)
            continue
        if file is not None and not field.is_required():
            groups[title].add_argument("--config", metavar="FILE", help=file)
            file = None
        _add(groups[title], name, field, can_be_revoked=can_be_revoked)


def _add(
    parser: argparse._ActionsContainer,
    name: str,
    field: FieldInfo,
    *,
    can_be_revoked: bool = False,
) -> None:
    """Declare an option; one that a file may have set can be revoked, like `--no-overwrite`."""
    settings = _argument_settings(field, metadata(field)["metavar"])
    if is_flag(field):
        settings = {"action": argparse.BooleanOptionalAction if can_be_revoked else "store_true"}
    parser.add_argument(
        flag_of(name, field),
        dest=name,
        default=argparse.SUPPRESS,
        help=_help(name, field).replace("%", "%%"),
        **settings,
    )


def _add_argument(parser: argparse.ArgumentParser, name: str, field: FieldInfo) -> None:
    """Declare a field whose values stand without the name of an option."""
    settings: dict[str, Any] = {}
    if get_origin(field.annotation) is tuple:
        settings["nargs"] = "+" if field.is_required() else "*"
    elif not field.is_required():
        settings["nargs"] = "?"
    if not field.is_required():
        settings["default"] = argparse.SUPPRESS
    help_ = _help(name, field) if settings.get("nargs") == "?" else str(field.description)
    metavar = metadata(field)["metavar"]
    parser.add_argument(name, metavar=metavar, help=help_.replace("%", "%%"), **settings)


def read_options(args: argparse.Namespace, model: type[_Options]) -> _Options:
    """The options of a command that takes none from a file.

    Raises:
      UsageError: an option is wrong or missing; the message lists every mistake.
    """
    return load_config(model, collect_given_options(args, model), has_file=False)


def collect_given_options(args: argparse.Namespace, model: _Model) -> dict[str, Any]:
    """The values given on the command line, by field of the configuration."""
    return {name: value for name, value in vars(args).items() if name in model.model_fields}


def options_table(model: _Model, without: Collection[str] = ()) -> str:
    """The options as a Markdown table for the docs, except the fields in `without`."""
    lines = ["| option | what it does |", "|---|---|"]
    for name, field in _fields(model, without):
        option = f"{flag_of(name, field)} {metadata(field)['metavar']}".strip()
        option = option.replace("|", "` or `")  # which would end the cell
        choices = " or ".join(_choices(field))
        meaning = f"{field.description}{f' ({choices})' if choices else ''}"
        default = _default(name, field)
        if default:
            meaning += f"; {default}" if field.is_required() else f"; default: {default}"
        lines.append(f"| `{option}` | {in_code(meaning)} |")
    return "\n".join(lines) + "\n"


def in_code(text: str) -> str:
    """The text with the options that it names as code of Markdown."""
    return _OPTION.sub(r"`\g<0>`", text)


def _fields(model: _Model, without: Collection[str]) -> list[tuple[str, FieldInfo]]:
    """The fields except those in `without`, group by group, the required ones first."""
    fields = [
        (name, field)
        for name, field in model.model_fields.items()
        if name not in without and metadata(field)
    ]
    return sorted(fields, key=_place)


def _place(named: tuple[str, FieldInfo]) -> tuple[int, bool]:
    _, field = named
    return GROUPS.index(metadata(field)["group"]), not field.is_required()


def _argument_settings(field: FieldInfo, metavar: str) -> dict[str, Any]:
    if get_origin(field.annotation) is dict:
        return {"action": "append", "nargs": "+", "metavar": tuple(metavar.split())}
    types = map(_without_validators, (field.annotation, *get_args(field.annotation)))
    for type_ in (type_ for type_ in types if get_origin(type_) is tuple):
        if Ellipsis in get_args(type_):
            return {"action": "extend", "nargs": "+", "metavar": metavar}
        words = metavar.split()
        return {"nargs": len(get_args(type_)), "metavar": tuple(words) if words[1:] else metavar}
    choices = _choices(field)
    return {"metavar": "|".join(choices) if choices else metavar}


def _without_validators(type_: Any) -> Any:
    """The type in an `Annotated` one; other types as they are."""
    return get_args(type_)[0] if get_origin(type_) is Annotated else type_


def _choices(field: FieldInfo) -> tuple[str, ...]:
    """The words that an option accepts; empty if it accepts anything."""
    return tuple(name for name in get_args(field.annotation) if isinstance(name, str))


def _help(name: str, field: FieldInfo) -> str:
    default = _default(name, field)
    if default == "required":
        return f"{field.description} (required)"
    if not default or "(default: " in str(field.description):
        return f"{field.description}"
    return f"{field.description} (default: {default})"


def _default(name: str, field: FieldInfo) -> str:
    """The default as text; "" if the help states it or there is none."""
    if field.is_required():
        return "required"
    if field.default is None or isinstance(field.default, bool) or field.default == ():
        return ""
    if isinstance(field.default, tuple):
        return f"{len(field.default)} of them" if name == "metrics" else ", ".join(field.default)
    return str(field.default)
