"""`goodgain gate`: checks a run against rules, for people and CI."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.pipeline.cli.shared_options import add_option, add_output_options
from goodgain.transforms.core.wording import counted

if TYPE_CHECKING:
    from goodgain.pipeline.studies.gate.outcome import Outcome

NAME = "gate"
HELP = "check a run against rules; exit code 4 if one fails"
EXAMPLE = "goodgain gate out --config goodgain:gate --baseline out-last-good"
_COLOURS = {"passed": "green", "failed": "red", "skipped": "yellow"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the run, the rules, and the files for the result."""
    parser.add_argument("output", metavar="DIR", help="output of `goodgain run`")
    add_option(parser, "--config FILE", "the rules, in YAML", required=True)
    add_option(parser, "--baseline DIR", "output of the run to compare with")
    add_option(
        parser,
        "--force",
        "compare even if the baseline differs in thresholds, g_max, duplicates, rules, "
        "qrels, pool or scoring",
    )
    add_option(parser, "--junit FILE", "also write JUnit XML")
    add_option(parser, "--markdown FILE", "also write a summary in Markdown")
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Apply the rules and print the outcomes."""
    # Imported here to keep --help fast.
    from datetime import UTC, datetime

    from goodgain.pipeline.document.console import print_json
    from goodgain.pipeline.results.exit_codes import ExitCode
    from goodgain.pipeline.studies.gate.evaluate import Gate
    from goodgain.pipeline.studies.gate.outcome import junit, markdown, passed

    outcomes = Gate.load(args.config, args.baseline, args.force).outcomes(args.output)
    if args.junit:
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
        _write(args.junit, junit(outcomes, args.output, at))
    if args.markdown:
        _write(args.markdown, markdown(outcomes, args.output).encode())
    if args.json:
        print_json(
            {
                "passed": passed(outcomes),
                "baseline": args.baseline,
                "forced": args.force,
                "outcomes": outcomes,
            }
        )
    elif not args.quiet or not passed(outcomes):
        render(outcomes)
    return ExitCode.DONE if passed(outcomes) else ExitCode.REGRESSION


def render(outcomes: Sequence[Outcome]) -> None:
    """Print one line per outcome, the reasons of those that did not pass, and the verdict."""
    from rich.text import Text

    from goodgain.pipeline.document.console import plain_table, print_line, result_console
    from goodgain.pipeline.document.safe_text import untrusted
    from goodgain.pipeline.studies.gate.outcome import cautions_of

    console, table = result_console(), plain_table()
    for heading in ("rule", "value", "bound"):
        table.add_column(heading, overflow="fold")
    table.add_column("verdict", no_wrap=True)
    for outcome in outcomes:
        verdict = Text(outcome.verdict, style=_COLOURS[outcome.verdict])
        table.add_row(*map(untrusted, outcome.cells), verdict)
    console.print(table)
    explained = [outcome for outcome in outcomes if outcome.reason and outcome.verdict != "passed"]
    if explained:
        console.print()
    for outcome in explained:
        reason = f"{outcome.verdict}: {outcome.cells[0]}: {outcome.reason}."
        print_line(console, untrusted(reason))
    if warned := cautions_of(outcomes):
        console.print()
    for caution in warned:
        print_line(console, untrusted(caution))
    failed = sum(outcome.verdict == "failed" for outcome in outcomes)
    skipped = sum(outcome.verdict == "skipped" for outcome in outcomes)
    checked = counted(len(outcomes) - skipped, "rule")
    total = f"failed: {failed} of {checked}" if failed else f"passed: {checked}, none failed"
    console.print(f"\nThe gate {total}{f'; {skipped} skipped' if skipped else ''}.")


def _write(path: str, content: bytes) -> None:
    from goodgain.pipeline.results.whole_files import writing

    with writing(path):
        Path(path).write_bytes(content)
