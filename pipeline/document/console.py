"""Consoles of commands: results go to stdout, progress and messages to stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

import msgspec
from rich.console import Console

_UNLIMITED = 10_000  # characters of a line
_FIRST = 10


class _Console(Console):
    """Lets the caller handle a broken pipe; rich would end the process."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def result_console(quiet: bool = False) -> Console:
    """For results on stdout; plain, unwrapped text unless it is a terminal."""
    return _console(stderr=False, quiet=quiet)


def message_console(quiet: bool = False) -> Console:
    """For progress and messages on stderr; if `quiet`, it prints nothing."""
    return _console(stderr=True, quiet=quiet)


def _console(stderr: bool, quiet: bool) -> Console:
    console = _Console(stderr=stderr, highlight=False, markup=False, emoji=False, quiet=quiet)
    if _is_unlimited(sys.stderr if stderr else sys.stdout):
        console.width = _UNLIMITED
    return console


def print_first(lines: Sequence[str]) -> None:
    """Print the first ten lines as messages, and how many more there are."""
    console = message_console()
    for line in lines[:_FIRST]:
        console.print(line, soft_wrap=True)
    if len(lines) > _FIRST:
        console.print(f"... and {len(lines) - _FIRST:,} more.")


def on_terminal(width: int) -> int | None:
    """The greatest width of a column on a terminal; None (no limit) elsewhere."""
    return None if _is_unlimited(sys.stdout) else width


def _is_unlimited(stream: TextIO) -> bool:
    return not stream.isatty() and "COLUMNS" not in os.environ


def print_json(value: Any) -> None:
    """Print a result as JSON, in ASCII, so that text from traces cannot control a terminal."""
    written = json.dumps(value, allow_nan=False, default=msgspec.to_builtins).encode()
    # json's own indentation is implemented in Python and five times as slow.
    sys.stdout.write(msgspec.json.format(written, indent=2).decode() + "\n")
