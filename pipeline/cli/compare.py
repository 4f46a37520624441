"""`goodgain compare`: whether a candidate is better than a base, where, and how sure that is."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from typing import TYPE_CHECKING

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.shared_options import add_output_options
from goodgain.pipeline.settings.compare_config import CompareConfig
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.remedy import Remedy

if TYPE_CHECKING:
    from goodgain.pipeline.studies.comparison.compare import Compared

NAME = "compare"
HELP = "compare two runs, or two arms within one, metric by metric"
EXAMPLE = "goodgain compare out-base out-candidate --slice market"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what to compare, how, and where the result goes."""
    parser.usage = (
        f"{parser.prog} BASE CANDIDATE [options]\n"
        f"       {parser.prog} OUTPUT --by ATTRIBUTE [options]"
    )
    add_config_options(parser, CompareConfig)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, and print or write the result."""
    config = read_options(args, CompareConfig)
    from goodgain.pipeline.results.lock import lock_output_folder  # here to keep --help fast

    with lock_output_folder(config.output) if config.output else nullcontext():
        return _compare(args, config)


def _compare(args: argparse.Namespace, config: CompareConfig) -> int:
    # Imported here to keep --help fast.
    from goodgain.pipeline.document.console import message_console, print_json, result_console
    from goodgain.pipeline.document.model import document
    from goodgain.pipeline.document.safe_text import printable
    from goodgain.pipeline.document.terminal import show
    from goodgain.pipeline.results.folder import REPORT
    from goodgain.pipeline.results.unlabelled_arms import ShownRows
    from goodgain.pipeline.studies.comparison.arms import describe_missing
    from goodgain.pipeline.studies.comparison.compare import compare
    from goodgain.pipeline.studies.comparison.output import (
        check_output,
        manifest_of_comparison,
        plain_values,
        rows_of,
        write,
    )
    from goodgain.pipeline.studies.comparison.request import ComparisonRequest
    from goodgain.pipeline.studies.comparison.sensitivity import measure_sensitivity
    from goodgain.pipeline.views.comparison import comparison_document
    from goodgain.pipeline.views.comparison_arms import comparison_warnings
    from goodgain.pipeline.views.pages.comparison import build_comparison_report
    from goodgain.pipeline.views.sensitivity import sensitivity_document

    request = ComparisonRequest.of(config)
    if config.output:
        check_output(config.output, config.overwrite, request.outputs)
    notify = message_console(args.quiet).print
    compared = compare(request, notify)
    arms = compared.arms
    _check_at(config.at, compared)
    sliced = [name for names in request.slices for name in names]
    for line in describe_missing(sliced, Remedy("slice"), arms.base, arms.candidate):
        message_console().print(f"goodgain: {printable(line)}", soft_wrap=True)
    sensitivity_rows = measure_sensitivity(compared, notify) if config.sensitivity else None
    if config.output:
        write(compared, config.output, config.format, build_comparison_report, sensitivity_rows)
    if args.json:
        manifest = manifest_of_comparison(compared, sensitivity_rows)
        print_json({**plain_values(manifest), "rows": rows_of(compared)})
    elif args.quiet:
        show(document(comparison_warnings(compared)), message_console())
    else:
        console = result_console()
        show(comparison_document(compared, config.at), console)
        if sensitivity_rows is not None:
            shown = map(ShownRows(compared.without_labels).struct, sensitivity_rows)
            console.print()
            show(sensitivity_document(list(shown), request.correction), console)
        if config.output:
            console.print(f"\nReport: {config.output}/{REPORT}", soft_wrap=True)
    return 0


def _check_at(at: int | None, compared: Compared) -> None:
    """Refuse an iteration without metrics."""
    last = max((row.i for row in compared.rows if row.i is not None), default=0)
    if at is not None and at > last:
        raise UsageError(
            f"--at is {at}, but metrics are compared up to i = {last}: give at most {last}, or "
            f"--max-i {at}."
            if last
            else f"--at is {at}, but no metric by iteration is compared: name one with --metrics."
        )
