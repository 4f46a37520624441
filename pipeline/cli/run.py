"""`goodgain run`: score traces and write every output (SPEC 6)."""

from __future__ import annotations

import argparse

from pipeline.cli.config_options import add_config_options, given_options
from pipeline.config import RunConfig
from pipeline.config_file import load_run_config

NAME = "run"
HELP = "score traces and write every metric and its means"
EXAMPLE = "goodgain run --input 'traces/*.avro' --output out --slice market --slice arm,market"
PASSES_ON = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a run, all of which a configuration file can also hold."""
    parser.usage = f"{parser.prog} --input PATTERN ... --output DIR [options] [options of Beam]"
    parser.description = (
        f"{parser.description}\n\nOptions that are not listed here go to Beam unchanged, like "
        "--flink_master.\nExit code: 0 done, 1 failed, 2 wrong usage or configuration, "
        "3 too many records rejected."
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="YAML file with any of these options; what is given here wins over it",
    )
    add_config_options(parser, RunConfig)


def run(args: argparse.Namespace) -> int:
    """Check the configuration, then run.

    Raises:
      UsageError: the configuration or the input cannot be used.
      GoodGainError: the run failed.
    """
    config = load_run_config(given_options(args, RunConfig), args.config)
    # Imported here: this brings Beam, which takes long to load.
    import pipeline.run

    return pipeline.run.run(config, args.beam_arguments)
