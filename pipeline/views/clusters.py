"""What clusters show about the variance of metrics, and what a comparison can detect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import Any

from goodgain.pipeline.document.model import (
    Block,
    Cell,
    Sentence,
    count,
    difference,
    table,
    term,
)
from goodgain.pipeline.document.numbers import level, share_text
from goodgain.pipeline.results import data_warnings
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.transforms.core.means.cluster_variance import are_few_effective
from goodgain.transforms.core.metrics.headline import headline_among
from goodgain.transforms.core.special_functions import student_quantile
from goodgain.transforms.core.wording import format_count

_CONFIDENCE, _POWER = 0.95, 0.8
_ALONE = (
    "conversation without it is a cluster of its own",
    "conversations without it are clusters of their own",
)


def clusters_part(rows: Mapping[str, Any], manifest: RunManifest) -> Iterator[Block]:
    """The part of a run's document about its clusters; empty without any.

    Args:
      rows: the rows of `means` over all conversations at N, by metric.
    """
    attribute = manifest.options.cluster
    if attribute is None:
        return
    if line := data_warnings.warn_of_unshared_cluster(rows.values(), manifest):
        yield Sentence(line, apart=True)
        return
    alone = manifest.conversations.without_cluster
    yield Sentence(
        f"Clusters by {attribute}"
        + (f"; {format_count(alone, *_ALONE)}" if alone else "")
        + f". Smallest true change that one two-sided test at {level(1 - _CONFIDENCE)} "
        f"finds in {level(_POWER)} of cases: `paired` if both runs repeat the same values of "
        f"{attribute}, are paired by them, and all of these change equally (otherwise it is "
        "larger); `unpaired` if they have different values:",
        apart=True,
    )
    shown = [
        rows[name] for name in headline_among("decision", rows) if rows[name]["mean"] is not None
    ]
    yield table(
        ("metric", "clusters", "variance between clusters", "paired", "unpaired"), map(_row, shown)
    )
    if any(_is_uneven(row) for row in shown):
        yield Sentence(
            "No `paired` or `unpaired` where a few clusters have most of the conversations: they "
            "would not be reliable."
        )
    if any((row["intraclass_correlation"] or 0) < 0 for row in shown):
        yield Sentence(
            f"Below 0 %: conversations with the same {attribute} differ as much as any others, so "
            "the share counts as 0 %."
        )


def _row(row: Mapping[str, Any]) -> Sequence[Cell]:
    correlation = row["intraclass_correlation"]
    changes = (None, None) if _is_uneven(row) else estimate_detectable_differences(row)
    return (
        term(row["metric"]),
        count(row["clusters"] or 0),
        Cell(share_text(correlation), "share"),
        *(difference(row["metric"], change, signed=False) for change in changes),
    )


def _is_uneven(row: Mapping[str, Any]) -> bool:
    return are_few_effective(row["clusters"], row["effective_clusters"])


def estimate_detectable_differences(row: Mapping[str, Any]) -> tuple[float | None, float | None]:
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
    return sum(student_quantile(degrees_of_freedom, quantile) for quantile in quantiles)
