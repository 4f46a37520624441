"""`goodgain explain`: one conversation, result by result, as text (SPEC 3-5)."""

from __future__ import annotations

import argparse

from goodgain.pipeline.cli.config_options import (
    add_config_options,
    collect_given_options,
    read_options,
)
from goodgain.pipeline.cli.imports import quick_imports
from goodgain.pipeline.cli.shared_options import add_output_options
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.run_config import ExplainConfig, QuestionConfig, RunConfig
from goodgain.transforms.core.errors import UsageError

NAME = "explain"
HELP = "show one conversation: what became of each result, and why"
EXAMPLE = "goodgain explain c-0001 --input 'traces/*.avro'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the conversation, and the options of a run that affect its score."""
    add_config_options(parser, QuestionConfig)
    add_config_options(
        parser,
        ExplainConfig,
        file="YAML file of `goodgain run`, of which the options below apply; the command line "
        "overrides it",
    )
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Read the files, score the conversation and print it."""
    config = load_config(
        ExplainConfig, collect_given_options(args, ExplainConfig), args.config, RunConfig
    )
    asked = read_options(args, QuestionConfig)
    if asked.against:
        if asked.pair:
            raise UsageError("--pair and --against exclude each other: give one of the two.")
        return _run_against(args, config, asked)
    # Imported here to keep --help fast.
    with quick_imports():
        from goodgain.pipeline.document.console import print_json, result_console
        from goodgain.pipeline.document.terminal import show
        from goodgain.pipeline.inputs import progress
        from goodgain.pipeline.inputs.local_files import LOCAL
        from goodgain.pipeline.run.plan.evaluation import find_evaluation
        from goodgain.pipeline.studies.explanation.explain import find_turn
        from goodgain.pipeline.studies.explanation.output import explanation_json
        from goodgain.pipeline.views.explanation import explanation_document
    from goodgain.pipeline.views.pairs import pair_document

    evaluation = find_evaluation(config, LOCAL)
    with progress.show_progress(evaluation.traces.size, quiet=args.quiet):
        explanation = find_turn(asked.conversation_id, evaluation, pair=asked.pair).explanation
    if args.json:
        print_json(explanation_json(explanation))
    elif explanation.pair is not None:
        show(pair_document(asked.conversation_id, explanation.pair), result_console())
    else:
        show(explanation_document(explanation), result_console())
    return 0


def _run_against(args: argparse.Namespace, config: ExplainConfig, asked: QuestionConfig) -> int:
    """Read the conversation in both arms, and print what each found."""
    with quick_imports():
        from goodgain.pipeline.document.console import print_json, result_console
        from goodgain.pipeline.document.terminal import show
        from goodgain.pipeline.inputs import progress
        from goodgain.pipeline.studies.explanation.arm_inputs import open_inputs
        from goodgain.pipeline.studies.explanation.arms import explain_arms
        from goodgain.pipeline.studies.explanation.output import arms_json
        from goodgain.pipeline.views.arms import arms_document

    arms = open_inputs(config, asked.against)
    with progress.show_progress(arms.size, quiet=args.quiet):
        explained = explain_arms(*arms.turns(asked.conversation_id))
    if args.json:
        print_json(arms_json(explained))
    else:
        show(arms_document(explained), result_console())
    return 0
