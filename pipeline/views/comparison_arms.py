"""The part of a comparison about its arms: their sizes, and how they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from goodgain.pipeline.document.model import Sentence
from goodgain.pipeline.document.numbers import difference_text
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.clusters import arm_warnings, leading_row
from goodgain.pipeline.studies.comparison.compare import Compared
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow
from goodgain.pipeline.studies.comparison.matching import Account
from goodgain.transforms.core.metrics.by_name import list_labels, metric_by_name
from goodgain.transforms.core.warnings.codes import FEW_EFFECTIVE_CLUSTERS
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.core.wording import format_count, pluralize


def comparison_warnings(compared: Compared) -> Iterator[Sentence]:
    """How the runs differ although they are compared, and the warnings about their data."""
    if compared.is_of_one_run:
        yield Sentence(
            "Warning: base and candidate are the same run, so nothing can differ.", "warning"
        )
    for mismatch in compared.arms.forced:
        yield Sentence(f"Warning: forced although the runs differ in {mismatch}.", "warning")
    base, candidate = compared.arms.base_source, compared.arms.candidate_source
    of_arms = arm_warnings(base.manifest), arm_warnings(candidate.manifest)
    yield from data_warnings_part(compared.warnings, of_arms, base.folder == candidate.folder)


def data_warnings_part(
    of_comparison: Sequence[DataWarning],
    of_arms: tuple[Sequence[DataWarning], Sequence[DataWarning]],
    are_one_run: bool,
) -> Iterator[Sentence]:
    """The warnings of a comparison, and of both arms; only once if these are of the same run."""
    base, candidate = of_arms
    by_arm = {"Both arms: ": base} if are_one_run else {"Base: ": base, "Candidate: ": candidate}
    for whose, warnings in {"": of_comparison, **by_arm}.items():
        for warning in warnings:
            yield Sentence(f"{whose}{warning_text(warning)}", "warning")


def describe_uncompared(only_in_base: Sequence[str], only_in_candidate: Sequence[str]) -> list[str]:
    """The metrics that only one arm has, in sentences."""
    return [
        f"Only the {name} has {list_labels(metrics)}: not compared."
        for name, metrics in (("base", only_in_base), ("candidate", only_in_candidate))
        if metrics
    ]


def size_text(arm: Arm) -> str:
    """The number of conversations of an arm, and why some are left out."""
    total = format_count(len(arm.ids) + len(arm.left_out), "conversation")
    if not arm.left_out:
        return total
    reasons = Counter(left.reason for left in arm.left_out.values())
    left_out = ", ".join(f"{count:,} {why}" for why, count in sorted(reasons.items()))
    return f"{len(arm.ids):,} of {total}; {left_out}"


def clusters_text(compared: Compared, rows: Sequence[ComparisonRow]) -> str:
    """The number of clusters, and the smallest difference they can show, if it is known."""
    first = leading_row(rows)
    text = f"Clusters by {compared.cluster}: {first.clusters or 0:,} "
    text += pluralize(first.clusters or 0, "has", "have")
    text += f" a value of {metric_by_name(first.metric).label}"
    text += "" if first.i is None else f" at i = {first.i}"
    unreliable = any(warning.code == FEW_EFFECTIVE_CLUSTERS for warning in compared.warnings)
    if first.minimum_detectable_effect is None or unreliable:
        return f"{text}."
    detectable = difference_text(first.metric, first.minimum_detectable_effect, signed=False)
    return (
        f"{text}; with that many, a true difference of {detectable} is detected in 80 % of "
        "comparisons."
    )


def account_text(name: str, account: Account) -> Iterator[str]:
    """What became of the conversations of an arm that are in no pair, or share one."""
    if account.repeated:
        sharing = format_count(
            account.repeated, "conversation shares its", "conversations share their"
        )
        yield (
            f"In the {name}, {sharing} key with another of the same arm; each key counts once, "
            "with their mean."
        )
    fell_out = sum(account.unmatched.values())
    if fell_out:
        reasons = ", ".join(f"{n:,} {why}" for why, n in sorted(account.unmatched.items()))
        yield (
            f"Of the {name}'s {format_count(account.conversations, 'conversation')}, {fell_out:,} "
            f"{pluralize(fell_out, 'is', 'are')} in no pair in which both searched: {reasons}."
        )
