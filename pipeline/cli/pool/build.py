"""`goodgain pool build`: make a pool of several runs, or add runs to a pool (SPEC 9)."""

from __future__ import annotations

import argparse

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.imports import quick_imports
from goodgain.pipeline.cli.shared_options import add_output_options, describe_beam_command
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.settings.pool_config import PoolConfig

NAME = "pool build"
HELP = "pool the documents of several runs, to judge each once"
EXAMPLE = "goodgain pool build --run base='base/*.avro' --run new='new/*.avro' --output pool"
PASSES_OPTIONS_TO_BEAM = True
NOT_HERE = {
    "--aspect-qrels": "--aspect-qrels is no option of `goodgain pool build`: add judgments of "
    "aspects to the pool with `goodgain pool label POOL --aspects FILE`, which reads these lines."
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the runs, the topic and the folder of the pool."""
    describe_beam_command(
        parser,
        "--run NAME=PATTERN ... --output POOL",
        "Exit code: 0 done, 1 failed, 2 wrong usage, 3 too many records rejected.",
    )
    add_config_options(parser, PoolConfig)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Build or update the pool, and print a summary."""
    config = read_options(args, PoolConfig)
    # Imported here, since it imports Beam, which is slow.
    with quick_imports():
        from goodgain.pipeline.document.console import message_console, print_json, result_console
        from goodgain.pipeline.document.model import document
        from goodgain.pipeline.document.terminal import show
        from goodgain.pipeline.results.folder import plain_manifest
        from goodgain.pipeline.studies.pool.build_pool import build_pool
        from goodgain.pipeline.views.pool import pool_document, pool_findings, pool_warnings

    pool = build_pool(config, args.beam_arguments, args.quiet)
    show(document(pool_warnings(pool)), message_console())
    too_many = pool.manifest.last_build.too_many_rejected
    if args.json:
        print_json(plain_manifest(pool.manifest))
    elif args.quiet and not too_many:
        show(document(pool_findings(pool)), message_console())
    else:
        show(pool_document(pool), result_console())
    return ExitCode.DATA_QUALITY if too_many else ExitCode.DONE
