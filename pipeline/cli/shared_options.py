"""Options shared by commands that have no configuration file."""

from __future__ import annotations

import argparse
from typing import Any


def add_option(
    parser: argparse._ActionsContainer, written: str, help: str, **settings: Any
) -> None:
    """Declare an option.

    Args:
      written: the option as the help shows it, like `--at I`; without a value, it is a flag unless
        it has choices.
      help: what it does; its default is added unless it is stated.
      settings: see `argparse.ArgumentParser.add_argument`; the type is that of the default.
    """
    name, _, metavar = written.partition(" ")
    if metavar:
        settings["metavar"] = metavar
    elif "choices" not in settings and "nargs" not in settings:
        settings["action"] = "store_true"
    default = settings.get("default")
    if isinstance(default, int | float):
        settings.setdefault("type", type(default))
    if default not in (None, []) and "(default: " not in help:
        shown = f"{default:g}" if isinstance(default, float) else str(default)
        help += f" (default: {shown.replace('%', '%%')})"
    parser.add_argument(name, help=help, **settings)


def add_json_option(parser: argparse._ActionsContainer, what: str = "") -> None:
    """Declare `--json`; `what` names the content, if it is not what people see."""
    text = f"print {what} as JSON" if what else "print JSON"
    add_option(parser, "--json", f"{text}, for programs")


def add_quiet_option(parser: argparse._ActionsContainer) -> None:
    """Declare `--quiet`, for commands that print progress or a summary."""
    add_option(parser, "--quiet", "print nothing unless something is wrong")


def add_output_options(parser: argparse._ActionsContainer, what: str = "") -> None:
    """Declare `--json` and `--quiet`."""
    add_json_option(parser, what)
    add_quiet_option(parser)
