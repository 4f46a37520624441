"""`goodgain gate`: whether a run is good enough, for a person or a CI system."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipeline.cli.tracing_options import add_json_option

if TYPE_CHECKING:
    from rich.console import Console

    from pipeline.gate.outcome import Outcome

NAME = "gate"
HELP = "hold a run against rules; exit code 4 when one is broken"
EXAMPLE = "goodgain gate out --config configs/gate.yaml --baseline out-last-good"
_COLOURS = {"passed": "green", "failed": "red", "skipped": "yellow"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is judged, by which rules, and where the result goes."""
    parser.add_argument("output", metavar="DIR", help="output of `goodgain run`")
    parser.add_argument("--config", required=True, metavar="FILE", help="the rules, in YAML")
    parser.add_argument("--baseline", metavar="DIR", help="output of the run to compare with")
    parser.add_argument(
        "--force",
        action="store_true",
        help="compare with a baseline that differs in threshold, rules, g_max or scoring",
    )
    parser.add_argument("--junit", metavar="FILE", help="also write JUnit XML")
    parser.add_argument("--markdown", metavar="FILE", help="also write a summary in Markdown")
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Judge and show.

    Raises:
      UsageError: the rules or a folder cannot be used, or a file cannot be written.
    """
    # Imported here: reading outputs brings Beam, which takes long to load.
    from datetime import UTC, datetime

    from msgspec.structs import asdict

    from pipeline.cli.console import print_json, result_console
    from pipeline.exit_codes import ExitCode
    from pipeline.gate.evaluate import evaluate
    from pipeline.gate.folders import gather
    from pipeline.gate.junit import junit
    from pipeline.gate.markdown import markdown
    from pipeline.gate.outcome import passed
    from pipeline.gate.rules_file import load_gate

    gate = load_gate(args.config)
    outcomes = evaluate(gate, gather(args.output, args.baseline, args.force))
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
                "outcomes": [asdict(outcome) for outcome in outcomes],
            }
        )
    else:
        _print(outcomes, result_console())
    return ExitCode.DONE if passed(outcomes) else ExitCode.REGRESSION


def _write(path: str, content: bytes) -> None:
    from transforms.core.errors import UsageError

    try:
        with open(path, "wb") as file:
            file.write(content)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from None


def _print(outcomes: Sequence[Outcome], console: Console) -> None:
    from rich.text import Text

    from pipeline.cli.console import plain_table
    from pipeline.cli.words import untrusted

    table = plain_table()
    for heading in ("rule", "value", "bound"):
        table.add_column(heading, overflow="fold")
    table.add_column("verdict", no_wrap=True)
    for outcome in outcomes:
        verdict = Text(outcome.verdict, style=_COLOURS[outcome.verdict])
        table.add_row(
            untrusted(outcome.rule), untrusted(outcome.value), untrusted(outcome.bound), verdict
        )
    console.print(table)
    told = [outcome for outcome in outcomes if outcome.reason and outcome.verdict != "passed"]
    if told:
        console.print()
    for outcome in told:
        console.print(untrusted(f"{outcome.verdict}: {outcome.rule}: {outcome.reason}."))
    failed = sum(outcome.verdict == "failed" for outcome in outcomes)
    console.print(
        f"\nThe gate failed: {failed} of {len(outcomes)} rules."
        if failed
        else f"\nThe gate passed: {len(outcomes)} rules, none failed."
    )
