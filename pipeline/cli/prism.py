"""`goodgain prism`: build Prism, which runs streams on one machine, or print its path."""

from __future__ import annotations

import argparse

from goodgain.pipeline.cli.shared_options import add_quiet_option

NAME = "prism"
HELP = "build Prism, the engine for streams on one machine, with Go"
EXAMPLE = "goodgain prism"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `--quiet`."""
    add_quiet_option(parser)


def run(args: argparse.Namespace) -> int:
    """Build Prism unless it exists, and print its path."""
    from goodgain.pipeline.document.console import message_console, result_console
    from goodgain.pipeline.run.engines.prism_build import BUILT_PRISM, build_prism

    messages, is_there = message_console(args.quiet), BUILT_PRISM.is_file()
    path = build_prism(say=messages.print)
    messages.print(f"goodgain: Prism is {'there already' if is_there else 'built'}:")
    result_console().print(str(path), soft_wrap=True)
    return 0
