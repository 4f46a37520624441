"""`goodgain completion`: a script that makes a shell complete commands and options."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from goodgain.pipeline.cli.commands import COMMANDS, load_command

NAME = "completion"
HELP = "print a script for completion in bash, zsh or tcsh"
EXAMPLE = "goodgain completion bash"

_SHELLS = ("bash", "zsh", "tcsh")
_FILES = frozenset(("DIR", "FILE", "FOLDER", "PATH", "PATTERN", "POOL"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the shell."""
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=f"{', '.join(_SHELLS)}")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    sys.stdout.write(shtab.complete(_whole_parser(shtab.FILE), args.shell) + "\n")
    return 0


def _whole_parser(files: object) -> argparse.ArgumentParser:
    """All commands with their options; values that are paths are completed by `files`."""
    parser = argparse.ArgumentParser(prog="goodgain")
    groups: dict[str, Any] = {"": parser.add_subparsers()}
    for name in COMMANDS:
        command = load_command(name)
        group, _, command_name = name.rpartition(" ")
        if group not in groups:
            groups[group] = groups[""].add_parser(group, help=f"{group} ...").add_subparsers()
        command_parser = groups[group].add_parser(
            command_name, help=command.HELP, description=command.HELP
        )
        command.add_arguments(command_parser)
        for action in command_parser._actions:
            metavar = action.metavar if isinstance(action.metavar, str) else ""
            if metavar in _FILES:
                vars(action)["complete"] = files  # where shtab looks for it
            elif "|" in metavar:
                action.choices = metavar.split("|")
    return parser
