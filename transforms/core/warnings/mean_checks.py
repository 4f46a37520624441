"""The data warnings of SPEC 10 that are about means: over how much they are taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goodgain.transforms.core.means.cluster_variance import are_few_effective
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.warnings import codes
from goodgain.transforms.core.warnings.check_inputs import CheckInputs, UndefinedMetric
from goodgain.transforms.core.warnings.warning import DataWarning

_ENOUGH_CONVERSATIONS = 10  # of fewer, most may lack a value by chance


def warn_of_few_effective_clusters(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn if few clusters carry most of the weight."""
    found = inputs.clusters
    if found is None or not are_few_effective(found.clusters, found.effective):
        return
    yield DataWarning(
        codes.FEW_EFFECTIVE_CLUSTERS,
        found.clusters,
        None,
        f"The {found.clusters:,} clusters differ so much in size that they weigh like "
        f"{found.effective:.1f} of the same size, so intervals of means are too narrow.",
        "Take more clusters, or clusters of more equal size; `goodgain compare --pair-by "
        "ATTRIBUTE`, with the attribute of " + Remedy("cluster") + ", gives each the same weight.",
    )


def warn_of_undefined_metrics(inputs: CheckInputs) -> Iterator[DataWarning]:
    """Warn of means over less than half of the conversations."""
    found = [
        metric
        for metric in inputs.undefined
        if metric.conversations >= _ENOUGH_CONVERSATIONS
        and 2 * metric.undefined > metric.conversations
    ]
    if not found:
        return
    by_share: dict[tuple[int, int], list[str]] = {}
    for metric in found:
        by_share.setdefault((metric.undefined, metric.conversations), []).append(metric.metric)
    means = [
        f"{', '.join(names)} of {total - undefined:,} of {total:,} conversations"
        for (undefined, total), names in sorted(by_share.items(), reverse=True)
    ]
    undefined, total = max(by_share)
    yield DataWarning(
        codes.MOSTLY_UNDEFINED,
        undefined,
        undefined / total,
        f"Means over less than half of the conversations: {'; '.join(means)}. In the others the "
        "metric has no value, so the mean says nothing about them.",
        _how_to_define(found),
    )


def _how_to_define(found: Sequence[UndefinedMetric]) -> str:
    """What to do about metrics that are mostly undefined: those of the package, and users' own."""
    own = [metric.metric for metric in found if metric.own]
    of_own = (
        f"Let {', '.join(own)} return a number where None stands for one, or read the mean as one "
        "over the other conversations."
    )
    if len(own) == len(found):
        return of_own
    of_ranking = (
        "Judge with "
        + Remedy("qrels")
        + " or "
        + Remedy("pool")
        + ", so that conversations that found nothing count; or read hits, precision and CG, "
        "which are 0 there."
    )
    return of_ranking + f" {of_own}" if own else of_ranking
