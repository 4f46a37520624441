"""What clusters, like repeated runs of a query, show: variance, and what a gate can detect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt
from typing import Any

from rich.console import Console
from scipy.special import stdtrit

from goodgain.pipeline.misspelt import unshared_cluster
from goodgain.pipeline.terminal.console import plain_table
from goodgain.pipeline.terminal.metric_values import difference_text
from goodgain.transforms.core.scoring.registry import CONVERSATION_METRICS
from goodgain.transforms.core.wording import counted

_METRICS = ("CG", "DCG", "RAG", "DRAG", "SRE", "SRR")
_LABELS = {metric.name: metric.label for metric in CONVERSATION_METRICS}
_CONFIDENCE, _POWER = 0.95, 0.8
_ALONE = (
    "conversation without it is a cluster of its own",
    "conversations without it are clusters of their own",
)


def print_clusters(
    console: Console, means: Iterable[Mapping[str, Any]], manifest: Mapping[str, Any]
) -> None:
    """Print what a run with clusters shows about the variance of the headline metrics.

    Args:
      means: rows of all conversations, not of a slice.
    """
    attribute = manifest["parameters"].get("cluster")
    if attribute is None:
        return
    alone = manifest["conversations"].get("without_cluster", 0)
    rows = {row["metric"]: row for row in means if row["i"] is None and row["population"] == "all"}
    console.print(
        f"\nClusters by {attribute}"
        + (f"; {counted(alone, *_ALONE)}" if alone else "")
        + f". Smallest change that a nightly gate detects ({_POWER * 100:g} % power): `paired` if "
        f"both runs have the same values of {attribute} and all of these change equally (otherwise "
        "it is larger), `unpaired` if they have different values:",
        soft_wrap=True,
    )
    if line := unshared_cluster(rows.values(), manifest):
        console.print(line, soft_wrap=True)
    table = plain_table("metric", "clusters", "variance between clusters", "paired", "unpaired")
    for name in _METRICS:
        row = rows[name]
        paired, unpaired = detectable(row)
        table.add_row(
            _LABELS[name],
            f"{row['clusters'] or 0:,}",
            _percent(row["intraclass_correlation"]),
            difference_text(name, paired, signed=False),
            difference_text(name, unpaired, signed=False),
        )
    console.print(table)
    if any((rows[name]["intraclass_correlation"] or 0) < 0 for name in _METRICS):
        console.print(
            f"Below 0 %: conversations with the same {attribute} differ as much as any others, so "
            "the share counts as 0 %.",
            soft_wrap=True,
        )


def detectable(row: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The differences from another run like this one that a test detects with 80 % power.

    Args:
      row: a row of `means` from a run with clusters.

    Returns:
      The difference if both runs repeat the same queries and are paired by them, which leaves only
      the variance within clusters; and the difference if they have other queries. None if unknown.
    """
    if not row["clusters"] or row["clusters"] < 2 or not row["stderr"]:
        return None, None
    degrees_of_freedom = row["clusters"] - 1
    standard_errors = float(stdtrit(degrees_of_freedom, (1 + _CONFIDENCE) / 2)) + float(
        stdtrit(degrees_of_freedom, _POWER)
    )
    paired = None
    if row["intraclass_correlation"] is not None:
        within = min(1 - row["intraclass_correlation"], 1.0)
        paired = standard_errors * sqrt(2 * within / row["n"]) * row["stddev"]
    return paired, standard_errors * sqrt(2) * row["stderr"]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"
