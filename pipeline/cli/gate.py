"""`goodgain gate`: checks a run against rules, for people and CI."""

from __future__ import annotations

import argparse
from contextlib import suppress

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.shared_options import add_output_options
from goodgain.pipeline.settings.catalogue import OTHER_PARAMETERS
from goodgain.pipeline.settings.option_fields import argument, option
from goodgain.pipeline.settings.option_types import Text
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.option import COMMON

NAME = "gate"
HELP = "check a run against rules; exit code 4 if one fails"
EXAMPLE = "goodgain gate out --config goodgain:gate --baseline out-last-good"


class GateConfig(Settings):
    """The rules, the baseline, and the files for the result."""

    output: Text = argument("DIR", "output of `goodgain run`")
    config: Text = option(COMMON, "FILE", "the rules, in YAML")
    baseline: Text | None = option(COMMON, "DIR", "output of the run to compare with", None)
    force: bool = option(
        COMMON,
        "",
        f"compare with the baseline even if {OTHER_PARAMETERS}",
        False,
    )
    junit: Text | None = option(COMMON, "FILE", "also write JUnit XML", None)
    markdown: Text | None = option(COMMON, "FILE", "also write a summary in Markdown", None)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the run, the rules, and the files for the result."""
    add_config_options(parser, GateConfig)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Apply the rules and print the outcomes."""
    # Imported here to keep --help fast.
    from datetime import UTC, datetime

    from goodgain.pipeline.document.console import print_json, result_console
    from goodgain.pipeline.document.terminal import show
    from goodgain.pipeline.results.atomic_files import write_named
    from goodgain.pipeline.results.exit_codes import ExitCode
    from goodgain.pipeline.results.finished_run import read_manifest
    from goodgain.pipeline.studies.gate.evaluate import Gate
    from goodgain.pipeline.studies.gate.outcome import has_passed
    from goodgain.pipeline.views.gate import gate_document, gate_junit, gate_markdown

    config = read_options(args, GateConfig)
    with suppress(UsageError):  # which is raised again below
        read_manifest(config.output)  # makes metrics of users known to the rules
    gate = Gate.load(config.config, config.baseline, config.force)
    outcomes = gate.outcomes(config.output)
    if config.junit:
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
        write_named(config.junit, gate_junit(outcomes, config.output, at))
    if config.markdown:
        write_named(config.markdown, gate_markdown(outcomes, config.output).encode())
    if args.json:
        print_json(
            {
                "passed": has_passed(outcomes),
                "baseline": config.baseline,
                "forced": config.force,
                "outcomes": outcomes,
            }
        )
    elif not args.quiet or not has_passed(outcomes):
        show(gate_document(outcomes), result_console())
    return ExitCode.DONE if has_passed(outcomes) else ExitCode.REGRESSION
