"""`goodgain nightly`: score, compare, gate and publish one day of traces, or several."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.imports import quick_imports
from goodgain.pipeline.cli.shared_options import add_output_options, describe_beam_command
from goodgain.pipeline.settings.option_fields import option
from goodgain.pipeline.settings.option_types import Text
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.option import COMMON

if TYPE_CHECKING:
    from goodgain.pipeline.studies.nightly.job import NightlyRequest

NAME = "nightly"
HELP = "score, compare, gate and publish a day of traces, every night"
EXAMPLE = "goodgain nightly --config nightly.yaml --date 2025-03-03"
PASSES_OPTIONS_TO_BEAM = True


class NightsConfig(Settings):
    """Which days to run.

    Attributes:
      backfill: the first and the last day.
    """

    config: Text = option(COMMON, "FILE", "configuration, in YAML")
    date: Text | None = option(
        COMMON, "DAY", "the day to run, like 2025-03-04 (default: yesterday, UTC)", None
    )
    backfill: tuple[Text, Text] | None = option(
        COMMON, "FROM TO", "run every day from FROM to TO that has no output yet", None
    )
    rerun_late: bool = option(
        COMMON, "", "also rerun days whose input has changed since their run", False
    )
    runner: Text | None = option(
        COMMON, "RUNNER", "engine to use instead of the one in the configuration", None
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the configuration and the days to run."""
    describe_beam_command(
        parser,
        "--config FILE",
        "Exit code (the worst of several days): 0 passed, 1 failed, 2 wrong usage or "
        "configuration,\n3 bad data (too many records rejected, or nothing to average), 4 the "
        "gate failed.",
    )
    add_config_options(parser, NightsConfig)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the job."""
    options = read_options(args, NightsConfig)
    request = _request(options)
    # Imported here, since it imports Beam, which is slow.
    with quick_imports():
        from goodgain.pipeline.document.console import message_console, print_json, result_console
        from goodgain.pipeline.document.terminal import show
        from goodgain.pipeline.studies.nightly.config import load_nightly_config
        from goodgain.pipeline.studies.nightly.dependencies import Dependencies, NightViews
        from goodgain.pipeline.studies.nightly.job import run_nightly
        from goodgain.pipeline.views.gate import gate_markdown
        from goodgain.pipeline.views.history import history_markdown
        from goodgain.pipeline.views.nights import nights_document, nights_warnings
        from goodgain.pipeline.views.pages.nights import build_nights_report
        from goodgain.pipeline.views.pages.run import build_report

    config = load_nightly_config(options.config)
    if options.runner:
        config = config.model_copy(update={"runner": options.runner})
    views = NightViews(
        day=build_report, nights=build_nights_report, history=history_markdown, gate=gate_markdown
    )
    dependencies = Dependencies.quiet(views) if args.quiet else Dependencies(views)
    result = run_nightly(config, request, args.beam_arguments, dependencies)
    if args.json:
        print_json(result)
    elif result.exit_code or not args.quiet:
        show(nights_document(result, config), result_console())
    else:
        show(nights_warnings(result), message_console())
    return result.exit_code


def _request(options: NightsConfig) -> NightlyRequest:
    from goodgain.pipeline.studies.nightly.days.days import read_day
    from goodgain.pipeline.studies.nightly.job import NightlyRequest

    if options.backfill is None:
        day = read_day(options.date) if options.date else None
        return NightlyRequest(day, None, options.rerun_late)
    if options.date:
        raise UsageError("--date and --backfill exclude each other: give one of the two.")
    first, last = map(read_day, options.backfill)
    if last < first:
        raise UsageError(f"--backfill {first} {last}: give the earlier day first.")
    return NightlyRequest(None, (first, last), options.rerun_late)
