"""Fill in the tables of the docs that come from the code; `make generated` calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from goodgain.pipeline.cli.config_options import in_code, options_table
from goodgain.pipeline.run.engines.table import ENGINES, Engine
from goodgain.pipeline.settings.means_config import MeansConfig
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.pipeline.views.metrics import metric_groups
from goodgain.transforms.core.metric import Metric

_DOCS = Path("docs")


def metrics_table() -> str:
    """Every metric with its unit, meaning and formula, as tables in Markdown."""
    return "\n".join(
        f"{_heading(group)}\n\n{_of_metrics(metrics)}" for group, metrics in metric_groups()
    )


def _heading(group: str) -> str:
    """What the metrics of a group describe, and below it when there are any."""
    subject, _, when = group.partition("; ")
    return f"## Metrics {subject}" + (f"\n\n{in_code(when[0].upper() + when[1:])}." if when else "")


def _of_metrics(metrics: Iterable[Metric]) -> str:
    """In four columns, since a page is not wide enough for one of each property."""
    rows = [
        (f"`{metric.name}`<br>{metric.words}", _unit(metric), metric.explained, _formula(metric))
        for metric in metrics
    ]
    return _table(("metric", "unit", "meaning", "formula"), rows)


def _unit(metric: Metric) -> str:
    better = "" if metric.direction == "neither" else f", {metric.direction} is better"
    return metric.unit + better + ("; has bounds" if metric.bounded else "")


def _formula(metric: Metric) -> str:
    return metric.formula + (f".<br>Null when {metric.undefined}" if metric.undefined else "")


def engines_table() -> str:
    """What each engine is for and its options, as a table in Markdown, and below it why."""
    engines = list(dict.fromkeys(ENGINES.values()))
    table = _table(
        ("`--runner`", "for", "needs", "added options"),
        [
            (_names(engine), engine.used_for, engine.needs, _options(engine))
            for engine in engines
            if not engine.cannot_run
        ],
    )
    return table + "\n" + "".join(f"* {_names(engine)}: {_why(engine)}\n" for engine in engines)


def gathering_table() -> str:
    """The cost of both ways to gather conversations in batch, as a table in Markdown."""
    rows = [
        (_names(engine), *engine.gathering)
        for engine in dict.fromkeys(ENGINES.values())
        if engine.gathering is not None
    ]
    return _table(("engine", "by state and timer", "by grouping"), rows)


def _names(engine: Engine) -> str:
    default = RunConfig.model_fields["runner"].default
    return ", ".join(
        f"`{name}`{' (default)' if name == default else ''}"
        for name, entry in ENGINES.items()
        if entry is engine
    )


def _options(engine: Engine) -> str:
    kinds = (
        ("", engine.arguments),
        (" (batch)", engine.batch_arguments),
        (" (streams)", engine.stream_arguments),
    )
    return "<br>".join(f"`{option}`{kind}" for kind, options in kinds for option in options)


def _why(engine: Engine) -> str:
    if engine.cannot_run:
        return f"Refused: {engine.cannot_run}."
    refused = f" Streams are refused: {engine.cannot_stream}." if engine.cannot_stream else ""
    return engine.reason + refused


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(map(_cell, cells))} |\n" for cells in (head, *rows)]
    return f"{lines[0]}{'|---' * len(head)}|\n{''.join(lines[1:])}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


GENERATED: Mapping[str, Callable[[], str]] = {
    "options": lambda: options_table(RunConfig),
    "stream_options": lambda: options_table(StreamConfig, without=MeansConfig.model_fields),
    "metrics": metrics_table,
    "engines": engines_table,
    "gathering": gathering_table,
}


def fill(text: str) -> str:
    """A page with the text between `<!-- NAME -->` and `<!-- end -->` replaced."""

    def table(match: re.Match[str]) -> str:
        return f"<!-- {match[1]} -->\n{GENERATED[match[1]]()}<!-- end -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- end -->", table, text, flags=re.DOTALL)


if __name__ == "__main__":
    for page in sorted(_DOCS.glob("*.md")):
        page.write_text(fill(page.read_text(encoding="utf-8")), encoding="utf-8")
