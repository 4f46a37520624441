"""The commands of `goodgain`, each a module, imported only when it is needed.

A new command is a module with the members of `Command` and its name in `COMMANDS`: `pool build` is
the module `pool/build.py`.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Protocol, cast


class Command(Protocol):
    """The interface of a command's module.

    A command that passes unknown options to Beam also sets `PASSES_OPTIONS_TO_BEAM = True`, and
    finds them in `args.beam_arguments`.
    """

    NAME: str
    HELP: str
    EXAMPLE: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""

    def run(self, args: argparse.Namespace) -> int:
        """Run the command and return the exit code.

        Raises:
          UsageError: the options, or what they name, cannot be used; the message says why.
          GoodGainError: the command failed.
        """


COMMANDS = (
    "run", "stream", "init", "validate", "explain", "compare", "gate", "nightly", "prism",
    "metrics", "report", "sample", "convert", "completion", "export", "pool build", "pool show",
    "pool todo", "pool label", "pool judge", "pool agree",
)  # fmt: skip


def load_command(name: str) -> Command:
    """Import the module of a command."""
    return cast(Command, import_module(f"goodgain.pipeline.cli.{name.replace(' ', '.')}"))
