"""Fill in the tables of the docs that come from the code; `make generated` calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from goodgain.pipeline.cli.config_options import options_table
from goodgain.pipeline.cli.metrics import metric_groups
from goodgain.pipeline.options.run_config import RunConfig
from goodgain.pipeline.options.scoring_config import ScoringConfig
from goodgain.pipeline.streaming.config import StreamConfig
from goodgain.transforms.core.metric import Metric

_DOCS = Path("docs")


def metrics_table() -> str:
    """Every metric with its unit, meaning and formula, as tables in Markdown."""
    return "\n".join(
        f"**Metrics {group}**\n\n{_table(metrics)}" for group, metrics in metric_groups()
    )


def _table(metrics: Iterable[Metric]) -> str:
    lines = [
        "| metric | in words | unit | better | meaning | formula | null when | bounds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for metric in metrics:
        better = "" if metric.direction == "neither" else metric.direction
        bounded = "yes" if metric.bounded else ""
        explained = (metric.explained, metric.formula, metric.undefined)
        cells = (metric.words, metric.unit, better, *explained, bounded)
        lines.append(f"| `{metric.name}` | " + " | ".join(map(_cell, cells)) + " |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


GENERATED: Mapping[str, Callable[[], str]] = {
    "options": lambda: options_table(RunConfig),
    "stream_options": lambda: options_table(StreamConfig, without=ScoringConfig.model_fields),
    "metrics": metrics_table,
}


def filled(text: str) -> str:
    """A page with the text between `<!-- NAME -->` and `<!-- end -->` replaced."""

    def table(match: re.Match[str]) -> str:
        return f"<!-- {match[1]} -->\n{GENERATED[match[1]]()}<!-- end -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- end -->", table, text, flags=re.DOTALL)


if __name__ == "__main__":
    for page in sorted(_DOCS.glob("*.md")):
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
