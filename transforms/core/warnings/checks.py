"""The data warnings of SPEC 10 in their order: each is a check of counts and what else is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from goodgain.transforms.core.warnings import (
    document_checks,
    label_checks,
    mean_checks,
    record_checks,
)
from goodgain.transforms.core.warnings.check_inputs import CheckInputs
from goodgain.transforms.core.warnings.count_checks import (
    COUNT_CHECKS,
    LABEL_CHECKS,
    TOPIC_CHECKS,
    check_counts,
)
from goodgain.transforms.core.warnings.warning import DataWarning

_CHECKS: tuple[Callable[[CheckInputs], Iterator[DataWarning]], ...] = (
    record_checks.warn_of_empty_input,
    record_checks.warn_of_no_results,
    label_checks.warn_of_no_labels,
    label_checks.warn_of_labels_below_threshold,
    label_checks.warn_of_labels_below_relevance_threshold,
    document_checks.warn_of_contradicted_ids,
    record_checks.warn_of_conflicting_redeliveries,
    partial(check_counts, TOPIC_CHECKS),
    label_checks.warn_of_few_labels,
    record_checks.warn_of_unknown_fields,
    document_checks.warn_of_no_identity,
    document_checks.warn_of_no_duplicates,
    record_checks.warn_of_only_one_iteration,
    mean_checks.warn_of_few_effective_clusters,
    document_checks.warn_of_finds_beyond_cutoff,
    mean_checks.warn_of_undefined_metrics,
    record_checks.warn_of_failed_calls,
    record_checks.warn_of_odd_times,
    label_checks.warn_of_label_conflicts,
    label_checks.warn_of_labels_of_passages,
    partial(check_counts, COUNT_CHECKS),
    label_checks.warn_of_labels_apart,
    partial(check_counts, LABEL_CHECKS),
)


def warnings_of(inputs: CheckInputs) -> list[DataWarning]:
    """The warnings about the inputs, most serious first."""
    return [warning for check in _CHECKS for warning in check(inputs)]
