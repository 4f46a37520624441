"""`goodgain stream`: score records as they arrive (SPEC 7)."""

from __future__ import annotations

import argparse
from functools import partial

from goodgain.pipeline.cli.config_options import add_config_options, collect_given_options
from goodgain.pipeline.cli.imports import quick_imports
from goodgain.pipeline.cli.shared_options import add_output_options, describe_beam_command
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.option_fields import flag_of, metadata
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.option import LABELS

NAME = "stream"
HELP = "score traces as they arrive, until Ctrl-C"
EXAMPLE = "goodgain stream --input incoming --output out --slice market --live"
PASSES_OPTIONS_TO_BEAM = True
_ABOUT_LABELS = ": in a stream labels come with the traces, or from a --pool"
NOT_HERE = {
    (flag := flag_of(name, field)): f"{flag} is an option of `goodgain run`"
    f"{_ABOUT_LABELS if metadata(field)['group'] == LABELS else ', not of a stream'}."
    for name, field in RunConfig.model_fields.items()
    if name not in StreamConfig.model_fields
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a stream, which a configuration file can also hold."""
    describe_beam_command(
        parser,
        "--input SOURCE --output DIR",
        "Exit code: 0 ended by Ctrl-C, 1 failed, 2 wrong usage or configuration.",
        before="A stream that was stopped starts over, from --since if that is given.",
        like="--prism_location",
    )
    shown = parser.add_mutually_exclusive_group()
    add_output_options(shown, "the latest means at N, warnings and counts at the end")
    add_config_options(
        parser,
        StreamConfig,
        file="YAML file with any of these options; the command line overrides it",
    )


def run(args: argparse.Namespace) -> int:
    """Check the configuration, then stream."""
    config = load_config(StreamConfig, collect_given_options(args, StreamConfig), args.config)
    # Imported here, since it imports Beam, which is slow.
    with quick_imports():
        import goodgain.pipeline.run.stream.run
        from goodgain.pipeline.views.stream import print_facts, print_findings, print_summary
        from goodgain.pipeline.views.stream_progress import show_progress

    show = print_facts if args.json else print_findings if args.quiet else print_summary
    return goodgain.pipeline.run.stream.run.stream(
        config,
        args.beam_arguments,
        show=show,
        watch=partial(show_progress, quiet=args.quiet),
        quiet=args.quiet,
    )
