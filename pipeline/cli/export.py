"""`goodgain export`: the metrics of each conversation for the tool that its traces came from."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Literal

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.shared_options import add_output_options
from goodgain.pipeline.settings.option_fields import argument, option
from goodgain.pipeline.settings.option_types import DistinctNames, Text
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.option import COMMON
from goodgain.transforms.core.wording import format_count

if TYPE_CHECKING:
    from datetime import datetime

NAME = "export"
HELP = "write metrics for OpenTelemetry, Langfuse, MLflow, BrowseComp-Plus"
EXAMPLE = "goodgain export out --to langfuse --output scores.jsonl"

_UNTRACED = (
    "conversation does not say which trace it comes from; its conversation_id is used instead",
    "conversations do not say which trace they come from; their conversation_id is used instead",
)


class ExportConfig(Settings):
    """Which metrics are written, and for which tool."""

    folder: Text = argument("DIR", "output folder of a run")
    to: Literal["otlp", "langfuse", "mlflow", "browsecomp-plus"] = option(
        COMMON, "TOOL", "tool that reads the scores; browsecomp-plus is its leaderboard"
    )
    output: Text = option(COMMON, "FILE", "JSON Lines to write; of browsecomp-plus one JSON object")
    metric: DistinctNames = option(
        COMMON,
        "NAME",
        "metrics to write, like CG or ndcg@10 (default: all of the conversation)",
        (),
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        f"{parser.description}\n\nOTLP: log records with one event gen_ai.evaluation.result per "
        "metric. Langfuse and MLflow: one\nscore or assessment per line. Each has the id of the "
        "session or trace in that tool. Nothing is sent."
    )
    add_config_options(parser, ExportConfig)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write the scores and say how many."""
    config = read_options(args, ExportConfig)
    # Imported here to keep --help fast.
    from goodgain.pipeline.convert.scores import metrics_without_mean, write_scores
    from goodgain.pipeline.document.console import print_json, result_console
    from goodgain.pipeline.results.finished_run import read_dataset, read_run

    finished = read_run(config.folder).finished
    rows = read_dataset(config.folder, "conversations")
    if config.to == "browsecomp-plus":
        return _submit(args, config, finished)
    undefined = metrics_without_mean(read_dataset(config.folder, "means"))
    counts = write_scores(
        rows, config.to, config.metric or None, finished, config.output, undefined
    )
    if args.json:
        print_json(counts)
        return 0
    console = result_console(args.quiet)
    console.print(
        f"{config.output}: {format_count(counts.scores, 'score')} of "
        f"{format_count(counts.conversations, 'conversation')}; "
        f"{format_count(counts.undefined, 'value is', 'values are')} undefined and left out.",
        soft_wrap=True,
    )
    if counts.without_trace_id:
        console.print(f"{format_count(counts.without_trace_id, *_UNTRACED)}.", soft_wrap=True)
    return 0


def _submit(args: argparse.Namespace, config: ExportConfig, finished: datetime) -> int:
    """Write the record for the leaderboard and say what is in it."""
    from goodgain.pipeline.convert.leaderboard import write_leaderboard
    from goodgain.pipeline.document.console import print_json, result_console
    from goodgain.pipeline.results.finished_run import read_dataset

    if config.metric:
        raise UsageError("--metric cannot be given: the leaderboard has metrics of its own.")
    rows = read_dataset(config.folder, "conversations")
    found = write_leaderboard(rows, config.output, finished.date())
    if args.json:
        print_json(found)
        return 0
    known = {"recall": found.recall, "calibration error": found.calibration}
    said = [f"accuracy {found.accuracy} %"]
    said += [f"{name} {value} %" for name, value in known.items() if value is not None]
    result_console(args.quiet).print(
        f"{config.output}: {format_count(found.queries, 'query', 'queries')}, "
        f"{', '.join(said)}. Fill in the retriever and the link.",
        soft_wrap=True,
    )
    return 0
