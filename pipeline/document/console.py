"""Consoles of commands: results go to stdout, progress and messages to stderr."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import msgspec
from rich.box import Box
from rich.console import Console
from rich.table import Table

# Only a rule below the heading, no other lines.
_BOX = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
_UNLIMITED = 10_000  # characters of a line


class _Console(Console):
    """Lets the caller handle a broken pipe; rich would end the process."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def result_console(quiet: bool = False) -> Console:
    """For results on stdout; plain, unwrapped text unless it is a terminal."""
    console = _Console(highlight=False, markup=False, emoji=False, quiet=quiet)
    if _is_unlimited():
        console.width = _UNLIMITED
    return console


def on_terminal(width: int) -> int | None:
    """The greatest width of a column on a terminal; None (no limit) elsewhere."""
    return None if _is_unlimited() else width


def _is_unlimited() -> bool:
    return not sys.stdout.isatty() and "COLUMNS" not in os.environ


def message_console(quiet: bool = False) -> Console:
    """For progress and messages on stderr; if `quiet`, it prints nothing."""
    console = _Console(stderr=True, highlight=False, markup=False, emoji=False, quiet=quiet)
    if not sys.stderr.isatty() and "COLUMNS" not in os.environ:
        console.width = _UNLIMITED
    return console


def plain_table(*headings: str) -> Table:
    """A table with one rule under its heading; columns but the first are right-aligned."""
    table = Table(box=_BOX, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for at, heading in enumerate(headings):
        table.add_column(heading, justify="right" if at else "left")
    return table


def print_json(value: Any) -> None:
    """Print a result as JSON, in ASCII, so that text from traces cannot control a terminal."""
    written = json.dumps(value, allow_nan=False, default=msgspec.to_builtins).encode()
    # json's own indentation is implemented in Python and five times as slow.
    sys.stdout.write(msgspec.json.format(written, indent=2).decode() + "\n")
