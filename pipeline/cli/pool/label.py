"""`goodgain pool label`: add labels to a pool, or withdraw those of an annotator (SPEC 9)."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.shared_options import add_output_options
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.settings.pool_config import LabelConfig
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.wording import format_count, pluralize

if TYPE_CHECKING:
    from goodgain.pipeline.studies.pool.labelling import Labelled

NAME = "pool label"
HELP = "add the labels of a file to a pool, under an annotator's name"
EXAMPLE = "goodgain pool label pool --from todo.csv --annotator ann"
_PLURALS = {"label": "labels", "list of aspects": "lists of aspects"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the pool, the file and the annotator."""
    parser.description = (
        f"{parser.description}\n\nA .csv, .tsv, .jsonl or .parquet file has the columns document "
        "and gain, and optionally\nannotator; any other file is TREC qrels whose documents are "
        "ids of the pool.\nWith --aspects the column is aspects (a list, names between semicolons, "
        "or [] for none), or the\nfile is TREC's diversity qrels.\n"
        "Exit code: 0 done, 3 lines were rejected."
    )
    add_config_options(parser, LabelConfig)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Add labels, or withdraw them."""
    config = read_options(args, LabelConfig)
    path = config.source or config.aspects
    if config.source and config.aspects:
        raise UsageError(
            "--from and --aspects are two files of two kinds: add one after the other."
        )
    if (path is None and config.prefer is None) == (config.undo is None):
        raise UsageError(
            "use --from FILE to add labels, --aspects FILE to add aspects, --prefer NAME, or "
            "--undo NAME to withdraw both."
        )
    from goodgain.pipeline.document.console import print_json, result_console
    from goodgain.pipeline.studies.pool.answer_journal import answers_of
    from goodgain.pipeline.studies.pool.labelling import add_aspects, label_pool, withdraw_labels

    if config.undo is not None:
        withdrawn = withdraw_labels(config.pool, config.undo)
        if args.json:
            print_json({"taken_back": withdrawn})
        else:
            console = result_console(args.quiet)
            console.print(
                f"{format_count(withdrawn, 'label')} of {config.undo} "
                f"{pluralize(withdrawn, 'was', 'were')} withdrawn."
            )
            answers = answers_of(config.pool, config.undo)
            if answers.exists():
                console.print(
                    f"The answers of `goodgain pool judge` are kept in {answers}; remove the file "
                    "to make it ask again.",
                    soft_wrap=True,
                )
        return ExitCode.DONE
    if config.aspects is not None:
        outcome = add_aspects(config.pool, config.aspects, config.annotator, config.prefer)
    else:
        outcome = label_pool(
            config.pool, config.source, config.annotator, config.prefer, config.label_scale
        )
    if args.json:
        print_json(outcome)
    else:
        _say(outcome, path, "label" if config.aspects is None else "list of aspects", args.quiet)
    return ExitCode.DATA_QUALITY if outcome.rejected else ExitCode.DONE


def _say(outcome: Labelled, path: str | None, what: str, quiet: bool) -> None:
    from goodgain.pipeline.document.console import print_first, result_console
    from goodgain.pipeline.document.safe_text import printable

    result_console(quiet).print(
        f"{format_count(outcome.given, what, _PLURALS[what])} given, {outcome.changed:,} of them "
        "replacing another; "
        f"{format_count(outcome.empty, 'line')} without one, {len(outcome.rejected):,} rejected."
    )
    print_first([f"{path}:{line.line}: {printable(line.text)}" for line in outcome.rejected])
