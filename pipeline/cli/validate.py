"""`goodgain validate`: read traces without scoring, and describe their contents (SPEC 2, 3)."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.imports import quick_imports
from goodgain.pipeline.cli.shared_options import add_output_options
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.settings.catalogue import HeldBytes
from goodgain.pipeline.settings.option_fields import argument
from goodgain.pipeline.settings.option_types import Patterns
from goodgain.pipeline.settings.reading_config import ReadingConfig, RejectionConfig
from goodgain.pipeline.settings.run_config import ExplainConfig
from goodgain.pipeline.settings.struct_options import options_of
from goodgain.transforms.core.scoring.options import ScoringOptions

NAME = "validate"
HELP = "read traces without scoring: what they contain, what is wrong"
EXAMPLE = "goodgain validate 'traces/*.avro'"


@options_of(ScoringOptions, "labels")
class ValidateConfig(ReadingConfig, RejectionConfig):
    """What `goodgain validate` reads, and what it warns of."""

    input: Patterns = argument(
        "PATTERN",
        "traces to read: files, folders or patterns (* and ** are wildcards), in Avro, JSON Lines, "
        "CSV or Parquet",
    )
    max_held_bytes: HeldBytes

    @property
    def evaluated(self) -> ExplainConfig:
        """The settings of the evaluation that validation observes."""
        return ExplainConfig.of_traces(self.input, self)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the files, how to read them, and the limits."""
    parser.usage = f"{parser.prog} PATTERN ... [options]"
    add_config_options(parser, ValidateConfig)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Read everything and print what was found."""
    config = read_options(args, ValidateConfig)
    # Imported here to keep --help fast.
    with quick_imports():
        from goodgain.pipeline.document.console import message_console, print_json, result_console
        from goodgain.pipeline.document.model import document
        from goodgain.pipeline.document.terminal import show
        from goodgain.pipeline.inputs import progress
        from goodgain.pipeline.inputs.local_files import LOCAL
        from goodgain.pipeline.run.plan.evaluation import find_evaluation
        from goodgain.pipeline.studies.validation.validate import validate
        from goodgain.pipeline.views.validation import validation_document, validation_warnings

    evaluation = find_evaluation(config.evaluated, LOCAL, datetime.now(UTC))
    with progress.show_progress(evaluation.traces.size, quiet=args.quiet):
        report = validate(evaluation, config.rejected_limit)
    if args.json:
        print_json(report)
    elif args.quiet and not report["too_many_rejected"]:
        show(document(validation_warnings(report)), message_console())
    else:
        show(validation_document(report), result_console())
    return ExitCode.DATA_QUALITY if report["too_many_rejected"] else ExitCode.DONE
