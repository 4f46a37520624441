"""The commands of `goodgain`, each a module, imported only when it is needed.

A new command is a module with the members of `Command`, and its line in `COMMANDS`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib import import_module
from typing import Protocol, cast


class Command(Protocol):
    """The interface of a command's module.

    A command that passes unknown options to Beam also sets `PASSES_OPTIONS_TO_BEAM = True`, and
    finds them in `args.beam_arguments`.

    Attributes:
      NAME: the command's name, one word or two.
      HELP: one line for the list of commands.
      EXAMPLE: a complete command line.
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


COMMANDS: Mapping[str, str] = {
    "run": "goodgain.pipeline.cli.run",
    "stream": "goodgain.pipeline.cli.stream",
    "init": "goodgain.pipeline.cli.init",
    "validate": "goodgain.pipeline.cli.validate",
    "explain": "goodgain.pipeline.cli.explain",
    "compare": "goodgain.pipeline.cli.compare",
    "gate": "goodgain.pipeline.cli.gate",
    "nightly": "goodgain.pipeline.cli.nightly",
    "prism": "goodgain.pipeline.cli.prism",
    "metrics": "goodgain.pipeline.cli.metrics",
    "report": "goodgain.pipeline.cli.report",
    "sample": "goodgain.pipeline.cli.sample",
    "convert": "goodgain.pipeline.cli.convert",
    "completion": "goodgain.pipeline.cli.completion",
    "export": "goodgain.pipeline.cli.export",
    "pool build": "goodgain.pipeline.cli.pool.build",
    "pool show": "goodgain.pipeline.cli.pool.show",
    "pool todo": "goodgain.pipeline.cli.pool.todo",
    "pool label": "goodgain.pipeline.cli.pool.label",
    "pool judge": "goodgain.pipeline.cli.pool.judge",
    "pool agree": "goodgain.pipeline.cli.pool.agree",
}


def load_command(name: str) -> Command:
    """Import the module of a command."""
    return cast(Command, import_module(COMMANDS[name]))
