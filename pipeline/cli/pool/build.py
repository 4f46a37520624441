"""`goodgain pool build`: make a pool of several runs, or add runs to a pool (SPEC 9)."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from goodgain.pipeline.cli.shared_options import (
    add_option,
    add_output_options,
    add_reading_options,
    add_rules_option,
    renames,
)
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.transforms.core.errors import UsageError

if TYPE_CHECKING:
    from goodgain.pipeline.studies.pool.build import PoolRequest

NAME = "pool build"
HELP = "pool the documents of several runs, to judge each once"
EXAMPLE = "goodgain pool build --run base='base/*.avro' --run new='new/*.avro' --output pool"
PASSES_OPTIONS_TO_BEAM = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the runs, the topic and the folder of the pool."""
    parser.usage = f"{parser.prog} --run NAME=PATTERN ... --output POOL [options] [options of Beam]"
    parser.description = (
        f"{parser.description}\n\nOptions that are not listed here go to Beam unchanged.\n"
        "Exit code: 0 done, 1 failed, 2 wrong usage, 3 too many records rejected."
    )
    parser.add_argument(
        "--run",
        nargs="+",
        action="append",
        required=True,
        metavar=("NAME=PATTERN", "PATTERN"),
        help="name of a run, and its traces: files, folders or patterns; repeat it for each run",
    )
    add_option(
        parser,
        "--topic ATTRIBUTE",
        "attribute that holds the topic, like query_id (default: conversation_id)",
    )
    where = parser.add_mutually_exclusive_group(required=True)
    add_option(where, "--output POOL", "folder of the new pool")
    add_option(where, "--update POOL", "pool to add the runs to; it keeps its ids and labels")
    add_option(
        parser, "--replace", "with --update: replace conversations that the pool already holds"
    )
    add_option(
        parser,
        "--format",
        "format of a new pool (default: avro)",
        choices=("avro", "parquet", "jsonl"),
    )
    add_option(
        parser,
        "--shards N",
        "number of files of the pool (default: by the size of the traces)",
        type=int,
    )
    add_option(
        parser,
        "--max-rejected LIMIT",
        "exit with 3 when more records than this are rejected",
        default="1%",
    )
    add_option(parser, "--runner RUNNER", "engine that runs the pipeline", default="DirectRunner")
    add_reading_options(parser)
    add_rules_option(parser)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Build or update the pool, and print a summary."""
    if args.replace and not args.update:
        raise UsageError("--replace needs --update POOL.")
    if args.shards is not None and args.shards < 1:
        raise UsageError(f"--shards is {args.shards}, but must be at least 1.")
    runs = _runs(args.run)
    # Imported here, since it imports Beam, which is slow.
    from goodgain.pipeline.cli.pool.show import print_findings, print_manifest
    from goodgain.pipeline.document.console import message_console, print_json, result_console
    from goodgain.pipeline.studies.pool.build import build_pool

    pool = build_pool(_request(args, runs), args.beam_arguments, args.quiet)
    too_many = pool.manifest["last_build"]["too_many_rejected"]
    if args.json:
        print_json(pool.manifest)
    elif args.quiet and not too_many:
        print_findings(pool, message_console())
    else:
        print_manifest(pool, result_console())
    return ExitCode.DATA_QUALITY if too_many else ExitCode.DONE


def _request(args: argparse.Namespace, runs: dict[str, tuple[str, ...]]) -> PoolRequest:
    from goodgain.pipeline.settings.option_types import MaxRejected
    from goodgain.pipeline.studies.pool.build import PoolRequest
    from goodgain.transforms.core.records.adaptation import parse_adaptation

    try:
        max_rejected = MaxRejected.parse(args.max_rejected)
    except ValueError as error:
        raise UsageError(f"--max-rejected {error}.") from None
    return PoolRequest(
        runs=runs,
        output=args.update or args.output,
        topic=args.topic,
        update=args.update is not None,
        replaces=args.replace,
        format=args.format,
        shards=args.shards,
        rules=args.rules,
        runner=args.runner,
        max_rejected=max_rejected,
        adaptation=parse_adaptation(renames(args), args.iteration_base),
    )


def _runs(run_options: list[list[str]]) -> dict[str, tuple[str, ...]]:
    """The patterns of each run, from the words of each --run, like `NAME=PATTERN PATTERN`."""
    runs: dict[str, tuple[str, ...]] = {}
    for first, *others in run_options:
        name, equals, pattern = first.partition("=")
        if not equals or not name.strip() or not pattern:
            raise UsageError(
                f"--run {first} has no name; write --run NAME=PATTERN, like new=f.jsonl."
            )
        runs[name.strip()] = (*runs.get(name.strip(), ()), pattern, *others)
    return runs
