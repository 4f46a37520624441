"""`goodgain explain`: one conversation as a person wants to read it (SPEC 3-5)."""

from __future__ import annotations

import argparse

from pipeline.cli.tracing_options import add_json_option, add_rules_option
from transforms.core.records import GREATEST_GAIN

NAME = "explain"
HELP = "show one conversation: what became of each result, and why"
EXAMPLE = "goodgain explain c-0001 --input 'traces/*.avro'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what to explain, and how it is scored."""
    parser.add_argument("conversation_id", metavar="CONVERSATION_ID", help="which conversation")
    parser.add_argument(
        "--input",
        required=True,
        nargs="+",
        action="extend",
        metavar="PATTERN",
        help="trace files of this machine; * and ** are wildcards",
    )
    add_rules_option(parser)
    parser.add_argument(
        "--good-gain-threshold",
        type=int,
        choices=range(1, GREATEST_GAIN + 1),
        default=2,
        metavar="GAIN",
        help=f"least gain of a good result, 1 to {GREATEST_GAIN} (2)",
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Read the files, keep the conversation, score and show it.

    Raises:
      UsageError: files, rules or the conversation cannot be found or used.
    """
    # Imported here, so that help does not wait for the readers.
    from pipeline.cli.console import print_json, result_console
    from pipeline.cli.explain_json import explanation_json
    from pipeline.cli.explain_text import render
    from pipeline.explanation import explain, gather
    from pipeline.local import local_files, read_files
    from pipeline.rules import load_rules
    from transforms.core.ranking import DEFAULT_RANKING_METRICS, RankingEvaluator
    from transforms.core.rules import compile_rules
    from transforms.core.score import Scoring

    scoring = Scoring(
        rules=compile_rules(load_rules(args.rules)),
        ranking=RankingEvaluator(DEFAULT_RANKING_METRICS, args.good_gain_threshold),
        good_gain_threshold=args.good_gain_threshold,
    )
    files = local_files(args.input)
    gathered = gather(args.conversation_id, (records for _, records in read_files(files)))
    explanation = explain(gathered, scoring)
    if args.json:
        print_json(explanation_json(explanation))
    else:
        render(explanation, result_console())
    return 0
