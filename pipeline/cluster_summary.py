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
from goodgain.transforms.core.means.clusters import few_effective
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
    if line := unshared_cluster(rows.values(), manifest):
        console.print(f"\n{line}", soft_wrap=True)
        return
    console.print(
        f"\nClusters by {attribute}"
        + (f"; {counted(alone, *_ALONE)}" if alone else "")
        + f". Smallest true change that one two-sided test at {100 * (1 - _CONFIDENCE):.0f} % "
        f"finds in {_POWER * 100:g} % of cases: `paired` if both runs repeat the same values of "
        f"{attribute}, are paired by them, and all of these change equally (otherwise it is "
        "larger); `unpaired` if they have different values:",
        soft_wrap=True,
    )
    table = plain_table("metric", "clusters", "variance between clusters", "paired", "unpaired")
    uneven = False
    for name in _METRICS:
        row = rows[name]
        paired, unpaired = detectable(row)
        if few_effective(row["clusters"], row["effective_clusters"]):
            paired, unpaired, uneven = None, None, True
        table.add_row(
            _LABELS[name],
            f"{row['clusters'] or 0:,}",
            _percent(row["intraclass_correlation"]),
            difference_text(name, paired, signed=False),
            difference_text(name, unpaired, signed=False),
        )
    console.print(table)
    if uneven:
        console.print(
            "No `paired` or `unpaired` where a few clusters have most of the conversations: they "
            "would not be reliable.",
            soft_wrap=True,
        )
    if any((rows[name]["intraclass_correlation"] or 0) < 0 for name in _METRICS):
        console.print(
            f"Below 0 %: conversations with the same {attribute} differ as much as any others, so "
            "the share counts as 0 %.",
            soft_wrap=True,
        )


def detectable(row: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The true differences from a run like this one that a test detects with 80 % power.

    The test is two-sided at 5 % and finds a true difference of (t[97.5 %] + t[80 %]) standard
    errors of the difference with that power. The standard error is sqrt(2) times that of one run:

    * paired by G queries with the same repeats in both runs, each weighing the same:
      `stderr_within` with G - 1 degrees of freedom. What differs between queries cancels out.
    * with other queries, as many as here and repeated like these: the clustered standard error of
      each mean, which contains the variance between queries, with Welch's degrees of freedom, which
      are 2 (G - 1) for runs alike.

    Args:
      row: a row of `means` from a run with clusters.

    Returns:
      The difference paired, and that unpaired; None if unknown.
    """
    if not row["clusters"] or row["clusters"] < 2 or not row["stderr"]:
        return None, None
    freedom = row["clusters"] - 1
    paired = row["stderr_within"]
    if paired is not None:
        paired *= _standard_errors(freedom) * sqrt(2)
    return paired, _standard_errors(2 * freedom) * sqrt(2) * row["stderr"]


def _standard_errors(degrees_of_freedom: int) -> float:
    """The number of standard errors of a difference that is detected."""
    quantiles = ((1 + _CONFIDENCE) / 2, _POWER)
    return sum(float(stdtrit(degrees_of_freedom, one)) for one in quantiles)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"
