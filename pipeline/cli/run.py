"""`goodgain run`: score traces and write every output (SPEC 6)."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

from goodgain.pipeline.cli.config_options import add_config_options, collect_given_options
from goodgain.pipeline.cli.imports import quick_imports
from goodgain.pipeline.cli.shared_options import add_output_options, describe_beam_command
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.transforms.core.errors import UsageError

if TYPE_CHECKING:
    from goodgain.pipeline.studies.gate.evaluate import Gate
    from goodgain.pipeline.studies.gate.outcome import Outcome

NAME = "run"
HELP = "score traces and write every metric and its means"
EXAMPLE = "goodgain run 'traces/*.avro' --output out --slice market arm,market"
PASSES_OPTIONS_TO_BEAM = True
LEADING_WORDS = "--input"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a run, all of which a configuration file can also hold."""
    describe_beam_command(
        parser,
        "PATTERN ... --output DIR",
        "Exit code: 0 done, 1 failed, 2 wrong usage or configuration, "
        "3 too many records rejected, or data\nwithout any label or good result, 4 a rule of the "
        "gate fails.",
        like="--flink_master",
    )
    shown = parser.add_mutually_exclusive_group()
    add_output_options(shown, "the manifest, the means at N and the gate's outcomes")
    add_config_options(
        parser,
        RunConfig,
        file="YAML file with any option but --json and --quiet; the command line overrides it",
    )


def run(args: argparse.Namespace) -> int:
    """Check the configuration, run, and apply the gate if there is one."""
    given = collect_given_options(args, RunConfig)
    try:
        config = load_config(RunConfig, given, args.config)
    except UsageError as error:
        hints = []
        if "input" in given and "output" not in given and args.config is None:
            words = shlex.join([*args.given_words, "--output", "out"])
            hints.append(f"  To write everything to a folder `out`: goodgain {NAME} {words}")
        if args.beam_arguments:  # a misspelt option may have taken a path as its value
            left = shlex.join(args.beam_arguments)
            hints.append(f"  no options of `goodgain run`, so left for Beam: {left}")
        raise UsageError("\n".join([str(error), *hints])) from None
    if config.baseline and not config.gate:
        raise UsageError("--baseline is used by a gate's rules only: add --gate.")
    # Imported here, since it imports Beam, which is slow.
    with quick_imports():
        import goodgain.pipeline.run.hosts.batch
        from goodgain.pipeline.document.console import print_json, result_console
        from goodgain.pipeline.document.terminal import show as show_document
        from goodgain.pipeline.results.finished_run import read_manifest
        from goodgain.pipeline.results.wanted_means import MeansWanted, read_means
        from goodgain.pipeline.views.pages.run import build_report
        from goodgain.pipeline.views.run import print_if_wrong, print_summary

    _ = config.own  # makes metrics of the user known to the gate, or says what is wrong with them
    gate = _load_gate(config)
    plain = not args.json and not args.quiet
    show = None if args.json else print_if_wrong if args.quiet else print_summary
    code = goodgain.pipeline.run.hosts.batch.run(
        config, args.beam_arguments, build_report, show, quiet=args.quiet
    )
    outcomes, passes = _judge(gate, config.output)
    if args.json:
        print_json(
            {
                "output": config.output,
                "manifest": read_manifest(config.output),
                "means": list(read_means(config.output, MeansWanted(at_end=True))),
                "gate": outcomes,
            }
        )
    elif gate is not None and (plain or not passes):
        from goodgain.pipeline.views.gate import gate_document

        show_document(gate_document(outcomes), result_console())
    if passes:
        return code
    # Bad data take precedence: they may be the only cause of the gate's verdict.
    return code or ExitCode.REGRESSION


def _load_gate(config: RunConfig) -> Gate | None:
    """The rules that the run must pass; what judges them is imported only where there are some."""
    if not config.gate:
        return None
    from goodgain.pipeline.studies.gate.evaluate import Gate

    gate = Gate.load(config.gate, config.baseline)
    gate.check(config.output)
    return gate


def _judge(gate: Gate | None, output: str) -> tuple[list[Outcome], bool]:
    """The outcomes of the rules, and whether the run passes; it does if there are no rules."""
    if gate is None:
        return [], True
    from goodgain.pipeline.studies.gate.outcome import has_passed

    outcomes = gate.outcomes(output)
    return outcomes, has_passed(outcomes)
