"""The switches that commands share: what they print, and as what."""

from __future__ import annotations

import argparse


def add_json_option(parser: argparse._ActionsContainer, what: str = "") -> None:
    """Declare `--json`; `what` names the content, if it is not what people see."""
    text = f"print {what} as JSON" if what else "print JSON"
    parser.add_argument("--json", help=f"{text}, for programs", action="store_true")


def add_quiet_option(parser: argparse._ActionsContainer) -> None:
    """Declare `--quiet`, for commands that print progress or a summary."""
    text = "print nothing unless something is wrong"
    parser.add_argument("--quiet", help=text, action="store_true")


def add_output_options(parser: argparse._ActionsContainer, what: str = "") -> None:
    """Declare `--json` and `--quiet`."""
    add_json_option(parser, what)
    add_quiet_option(parser)


def describe_beam_command(
    parser: argparse.ArgumentParser, usage: str, exit_codes: str, before: str = "", like: str = ""
) -> None:
    """Set usage and description of a command that passes unknown options to Beam.

    Args:
      usage: the words after the command, without options.
      before: a line before that on options; "" = none.
      like: an example of an option of Beam.
    """
    parser.usage = f"{parser.prog} {usage} [options] [options of Beam]"
    to_beam = "Options that are not listed here go to Beam unchanged"
    to_beam += f", like {like}." if like else "."
    lines = filter(None, (before, to_beam, exit_codes))
    parser.description = f"{parser.description}\n\n" + "\n".join(lines)
