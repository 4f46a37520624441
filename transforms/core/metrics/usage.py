"""The metrics of what the agent did with what search found: opened it, cited it (SPEC 11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.gains import NO_SEARCH
from goodgain.transforms.core.metrics.group import MetricGroup
from goodgain.transforms.core.metrics.prefix import Prefix
from goodgain.transforms.core.metrics.turn import UseCounts
from goodgain.transforms.core.remedy import Remedy

_READ_MORE = "Opening more raises it, so read it beside open_precision."
_CITE_MORE = "Citing more raises it, so read it beside cite_precision."


def _opened_counts(prefix: Prefix) -> UseCounts:
    return prefix.turn.usage.opened


def _cited_counts(prefix: Prefix) -> UseCounts:
    return prefix.turn.usage.cited


def _precision(of: Callable[[Prefix], UseCounts]) -> Callable[[Prefix], float | None]:
    def precision(prefix: Prefix) -> float | None:
        used = of(prefix)
        return used.good / used.documents if used.documents else None

    return precision


def _recall(of: Callable[[Prefix], UseCounts]) -> Callable[[Prefix], float | None]:
    def recall(prefix: Prefix) -> float | None:
        return of(prefix).found_good / prefix.good if prefix.good else None

    return recall


def _count_cited_unopened(prefix: Prefix) -> int | None:
    return prefix.turn.usage.cited_unopened if _opened_counts(prefix).records else None


def _declare(
    name: str,
    unit: str,
    words: str,
    meaning: str,
    formula: str,
    function: Callable[[Prefix], float | None],
    **more: Any,
) -> Metric:
    given = {"direction": "higher", "undefined": "", "whole": unit != "share", **more}
    return Metric(
        name=name, unit=unit, words=words, meaning=meaning, formula=formula, function=function,
        **given,
    )  # fmt: skip


def _metrics_of(
    did: str, verb: str, records: str, of: Callable[[Prefix], UseCounts], caution: str
) -> tuple[Metric, ...]:
    """The metrics of documents that were opened, or of those that were cited."""
    return (
        _declare(
            records, "records", f"Records of {did} documents",
            f"Records of documents that the agent {did}.",
            f"number of records of the last turn with action {verb}",
            lambda prefix: of(prefix).records, direction="neither", counted=True,
        ),
        _declare(
            did, "documents", f"{did.capitalize()} documents",
            f"Distinct documents that the agent {did}.",
            f"number of distinct documents among the results of records with action {verb}",
            lambda prefix: of(prefix).documents, counted=True,
        ),
        _declare(
            f"{did}_good", "documents", f"Good {did} documents",
            f"Distinct good documents that the agent {did}.",
            f"{did} documents with a label >= good_gain_threshold",
            lambda prefix: of(prefix).good, counted=True, needs_labels=True,
        ),
        _declare(
            f"{did}_unsurfaced", "documents", f"Documents {did} that search did not find",
            f"Distinct {did} documents that no search of the turn found.",
            f"{did} documents that are no document of a search of the turn",
            lambda prefix: of(prefix).unsurfaced, direction="lower", counted=True,
        ),
        _declare(
            f"{verb}_precision", "share", f"Good {did} documents",
            f"Share of the {did} documents that were good.", f"{did}_good / {did}",
            _precision(of), undefined=f"nothing was {did}", needs_labels=True, idle=False,
        ),
        _declare(
            f"{verb}_recall", "share", f"Good documents found that were {did}",
            f"Share of the good documents found that the agent {did}.",
            f"good documents found by search that were {did} / GR",
            _recall(of), undefined="search found no good document", needs_labels=True, idle=False,
            caution=caution, headline=("table", "comparison", "predictor"),
        ),
        _declare(
            f"CG_{did}", "gain", f"Gain of {did} documents",
            f"The part of the gain that the agent {did}.",
            f"sum of the gains of good documents found by search that were {did}",
            lambda prefix: of(prefix).found_gain, undefined=NO_SEARCH,
            needs_labels=True,
        ),
    )  # fmt: skip


USAGE = MetricGroup(
    "of documents that the agent opened or cited; where the first records have some, or with "
    + Remedy("usage"),
    (
        *_metrics_of("opened", "open", "opens", _opened_counts, _READ_MORE),
        *_metrics_of("cited", "cite", "cites", _cited_counts, _CITE_MORE),
        _declare(
            "cited_unopened", "documents", "Cited documents that were not opened",
            "Distinct cited documents that the agent did not open.",
            "cited documents that are among no record with action open", _count_cited_unopened,
            direction="lower", undefined="no record says what was opened",
        ),
    ),
)  # fmt: skip
