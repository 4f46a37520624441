"""`goodgain validate`: read traces without scoring, and describe their contents (SPEC 2, 3)."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from goodgain.pipeline.cli.shared_options import (
    add_option,
    add_output_options,
    add_reading_options,
    add_rules_option,
    add_threshold_option,
    renames,
)
from goodgain.pipeline.results.exit_codes import ExitCode

if TYPE_CHECKING:
    from goodgain.pipeline.settings.option_types import MaxRejected

NAME = "validate"
HELP = "read traces without scoring: what they contain, what is wrong"
_MILLIS = 1_000  # of a second
EXAMPLE = "goodgain validate 'traces/*.avro'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the files, how to read them, and the limits."""
    parser.add_argument(
        "input",
        nargs="+",
        metavar="PATTERN",
        help="traces on this machine: files, folders or patterns (* and ** are wildcards), in "
        "Avro, JSON Lines or Parquet",
    )
    add_reading_options(parser)
    add_rules_option(parser)
    add_option(
        parser,
        "--max-rejected LIMIT",
        "exit with 3 when more records than this are rejected: a count like 5 or a share like 2%% "
        "(default: 1%%); if it is given, also when an unknown number is lost",
        type=_limit,
    )
    add_threshold_option(parser, "smallest gain of a good result; warn if no result is good")
    add_option(
        parser,
        "--max-held-bytes N",
        "stop when more than about this many bytes are held, most of them ids (default: "
        "536870912, and 16 for each byte of input beyond 64 MiB)",
        type=_bytes,
    )
    add_output_options(parser)


def _limit(written: str) -> MaxRejected:
    from goodgain.pipeline.settings.option_types import MaxRejected  # imports pydantic

    try:
        return MaxRejected.parse(written)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _bytes(written: str) -> int:
    if not written.isdecimal() or not int(written):
        raise argparse.ArgumentTypeError(
            f"must be a whole number of bytes, 1 or more, not '{written}'"
        )
    return int(written)


def run(args: argparse.Namespace) -> int:
    """Read everything and print what was found."""
    # Imported here to keep --help fast.
    from goodgain.pipeline.document import progress
    from goodgain.pipeline.document.console import message_console, print_json, result_console
    from goodgain.pipeline.run.plan.local_files import local_files, open_local, read_files
    from goodgain.pipeline.run.plan.seen_names import first_look
    from goodgain.pipeline.settings.option_types import MaxRejected
    from goodgain.pipeline.settings.yaml_model import load_rules
    from goodgain.pipeline.studies.survey import Survey
    from goodgain.pipeline.views.validation import make_report, render, render_warnings
    from goodgain.transforms.core.dedup.rules import compile_rules
    from goodgain.transforms.core.memory_budget import MemoryBudget, default_memory_budget
    from goodgain.transforms.core.records.adaptation import parse_adaptation
    from goodgain.transforms.core.warnings.check_inputs import CheckInputs
    from goodgain.transforms.core.warnings.checks import warnings_of

    rules = compile_rules(load_rules(args.rules))
    files = local_files(args.input)
    adaptation = parse_adaptation(renames(args), args.iteration_base)
    clock = int(datetime.now(UTC).timestamp() * _MILLIS)
    size = sum(file.size for file in files)
    most = args.max_held_bytes or default_memory_budget(size)
    survey = Survey(rules, clock, MemoryBudget(most))
    with progress.shown(size, quiet=args.quiet):
        for _, records in read_files(files, adaptation):
            for record in records:
                survey.add(record)
    warnings = warnings_of(
        CheckInputs(
            survey.counts(),
            args.good_gain_threshold,
            rules,
            survey.read,
            first_look(files, open_local, adaptation),
            clock=clock,
        )
    )
    limit = args.max_rejected or MaxRejected(Decimal(1), is_share=True, is_given=False)
    report = make_report(survey, files, rules, limit, warnings)
    if args.json:
        print_json(report)
    elif args.quiet and not report["too_many_rejected"]:
        render_warnings(report, message_console())
    else:
        render(report, result_console())
    return ExitCode.DATA_QUALITY if report["too_many_rejected"] else ExitCode.DONE
