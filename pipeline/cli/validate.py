"""`goodgain validate`: read traces without scoring, and describe their contents (SPEC 2, 3)."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from goodgain.pipeline.cli.config_options import add_config_options, add_inputs, given_options
from goodgain.pipeline.cli.shared_options import add_output_options
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.validate_config import ValidateConfig

NAME = "validate"
HELP = "read traces without scoring: what they contain, what is wrong"
_MILLIS = 1_000  # of a second
EXAMPLE = "goodgain validate 'traces/*.avro'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the files, how to read them, and the limits."""
    parser.usage = f"{parser.prog} PATTERN ... [options]"
    add_inputs(parser, ValidateConfig, "input")
    add_config_options(parser, ValidateConfig, without=("input",))
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Read everything and print what was found."""
    config = load_config(ValidateConfig, given_options(args, ValidateConfig))
    # Imported here to keep --help fast.
    from goodgain.pipeline.document import progress
    from goodgain.pipeline.document.console import message_console, print_json, result_console
    from goodgain.pipeline.run.plan.local_files import local_files, open_local, read_files
    from goodgain.pipeline.run.plan.seen_names import first_look
    from goodgain.pipeline.settings.yaml_model import load_rules
    from goodgain.pipeline.studies.survey import Survey
    from goodgain.pipeline.views.validation import make_report, render, render_warnings
    from goodgain.transforms.core.dedup.rules import compile_rules
    from goodgain.transforms.core.memory_budget import MemoryBudget, default_memory_budget
    from goodgain.transforms.core.warnings.check_inputs import CheckInputs
    from goodgain.transforms.core.warnings.checks import warnings_of

    rules = compile_rules(load_rules(config.rules))
    files = local_files(config.input)
    clock = int(datetime.now(UTC).timestamp() * _MILLIS)
    size = sum(file.size for file in files)
    most = config.max_held_bytes or default_memory_budget(size)
    survey = Survey(rules, clock, MemoryBudget(most))
    with progress.shown(size, quiet=args.quiet):
        for _, records in read_files(files, config.adaptation, config.read_bounds):
            for record in records:
                survey.add(record)
    warnings = warnings_of(
        CheckInputs(
            survey.counts(),
            config.good_gain_threshold,
            rules,
            survey.read,
            first_look(files, open_local, config.adaptation),
            clock=clock,
        )
    )
    report = make_report(survey, files, rules, config.rejected_limit, warnings)
    if args.json:
        print_json(report)
    elif args.quiet and not report["too_many_rejected"]:
        render_warnings(report, message_console())
    else:
        render(report, result_console())
    return ExitCode.DATA_QUALITY if report["too_many_rejected"] else ExitCode.DONE
