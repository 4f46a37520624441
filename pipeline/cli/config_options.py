"""Options made from the fields of the configuration, for `--help` and for the docs."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any, get_args

from pydantic.fields import FieldInfo

from goodgain.pipeline.settings.option_types import GROUPS, flag_of, metadata
from goodgain.pipeline.settings.scoring_config import ScoringConfig

_Model = type[ScoringConfig]


def add_config_options(
    parser: argparse.ArgumentParser, model: _Model, without: Collection[str] = ()
) -> None:
    """Declare an option, in its group, for each field of a configuration except those in `without`.

    Values stay text and have no defaults: `load_config` checks them together with the file.
    """
    groups: dict[str, Any] = {}
    for name, field in _fields(model, without):
        extra = metadata(field)
        if extra["group"] not in groups:
            groups[extra["group"]] = parser.add_argument_group(extra["group"].lower())
        groups[extra["group"]].add_argument(
            flag_of(name, field),
            dest=name,
            default=argparse.SUPPRESS,
            help=_help(name, field).replace("%", "%%"),
            **_argument_settings(field, extra["metavar"]),
        )


def given_options(args: argparse.Namespace, model: _Model) -> dict[str, Any]:
    """The values given on the command line, by field of the configuration."""
    return {name: value for name, value in vars(args).items() if name in model.model_fields}


def options_table(model: _Model, without: Collection[str] = ()) -> str:
    """The options as a Markdown table for the docs, except the fields in `without`."""
    lines = ["| option | default | what it does |", "|---|---|---|"]
    for name, field in _fields(model, without):
        option = f"{flag_of(name, field)} {metadata(field)['metavar']}".strip()
        choices = " or ".join(_choices(field))
        meaning = f"{field.description}{f' ({choices})' if choices else ''}"
        lines.append(f"| `{option}` | {_default(name, field)} | {meaning} |")
    return "\n".join(lines) + "\n"


def _fields(model: _Model, without: Collection[str]) -> list[tuple[str, FieldInfo]]:
    """The fields except those in `without`, group by group."""
    fields = [named for named in model.model_fields.items() if named[0] not in without]
    return sorted(fields, key=lambda named: GROUPS.index(metadata(named[1])["group"]))


def _argument_settings(field: FieldInfo, metavar: str) -> dict[str, Any]:
    if field.annotation is bool:
        return {"action": argparse.BooleanOptionalAction}
    if field.annotation is not None and getattr(field.annotation, "__origin__", None) is tuple:
        return {"action": "extend", "nargs": "+", "metavar": metavar}
    choices = _choices(field)
    return {"metavar": "|".join(choices) if choices else metavar}


def _choices(field: FieldInfo) -> tuple[str, ...]:
    """The words that an option accepts; empty if it accepts anything."""
    return tuple(one for one in get_args(field.annotation) if isinstance(one, str))


def _help(name: str, field: FieldInfo) -> str:
    default = _default(name, field)
    if default == "required":
        return f"{field.description} (required)"
    return f"{field.description} (default: {default})" if default else f"{field.description}"


def _default(name: str, field: FieldInfo) -> str:
    """The default as text; "" if the help states it or there is none."""
    if field.is_required():
        return "required"
    if field.default is None or isinstance(field.default, bool) or field.default == ():
        return ""
    if isinstance(field.default, tuple):
        return f"{len(field.default)} of them" if name == "metrics" else ", ".join(field.default)
    return str(field.default)
