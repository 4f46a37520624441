"""`goodgain metrics`: what can be computed, what it means and when it is undefined (SPEC 5, 8)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from goodgain.pipeline.cli.config_options import add_config_options, read_options
from goodgain.pipeline.cli.shared_options import add_json_option
from goodgain.pipeline.settings.option_fields import argument
from goodgain.pipeline.settings.option_types import Text
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.pipeline.views.metrics import Groups, metric_groups, metrics_document
from goodgain.transforms.core.errors import UsageError

NAME = "metrics"
HELP = "list every metric with its unit, meaning and formula"
EXAMPLE = "goodgain metrics"

_IN_JSON = (
    "name", "label", "unit", "direction", "meaning", "caution", "undefined", "formula", "bounded",
)  # fmt: skip


class MetricsConfig(Settings):
    """Which metrics are listed."""

    words: tuple[Text, ...] = argument("WORD", "only metrics whose name contains one of these", ())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the filter and `--json`."""
    add_config_options(parser, MetricsConfig)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the metrics."""
    from goodgain.pipeline.document.console import print_json, result_console
    from goodgain.pipeline.document.terminal import show

    groups = _filter_by_words(metric_groups(), read_options(args, MetricsConfig).words)
    if args.json:
        print_json(
            [
                {"group": group, **{name: getattr(metric, name) for name in _IN_JSON}}
                for group, metrics in groups
                for metric in metrics
            ]
        )
    else:
        show(metrics_document(groups), result_console())
    return 0


def _filter_by_words(groups: Groups, words: Sequence[str]) -> Groups:
    """Only the metrics whose names contain one of the words; all if there are no words."""
    if not words:
        return groups
    # `ndcg@10` finds `ndcg[@k]`.
    parts = [word.partition("@")[0].lower() for word in words]
    matching = [
        (
            group,
            [metric for metric in metrics if any(part in metric.name.lower() for part in parts)],
        )
        for group, metrics in groups
    ]
    if not any(metrics for _, metrics in matching):
        raise UsageError(f"No metric is called {' or '.join(words)}; see `goodgain metrics`.")
    return [(group, metrics) for group, metrics in matching if metrics]
