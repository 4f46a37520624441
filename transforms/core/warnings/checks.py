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
    record_checks.empty_input,
    record_checks.no_results,
    label_checks.no_labels,
    label_checks.labels_below_threshold,
    label_checks.labels_below_relevance_threshold,
    document_checks.ids_contradicted,
    record_checks.conflicting_redeliveries,
    partial(check_counts, TOPIC_CHECKS),
    label_checks.few_labels,
    record_checks.warn_of_unknown_fields,
    document_checks.no_identity,
    document_checks.no_duplicates,
    record_checks.only_one_iteration,
    mean_checks.few_effective_clusters,
    document_checks.beyond_cutoff,
    mean_checks.mostly_undefined,
    record_checks.calls_failed,
    record_checks.odd_times,
    label_checks.label_conflicts,
    label_checks.labels_of_passages,
    partial(check_counts, COUNT_CHECKS),
    label_checks.labels_apart,
    partial(check_counts, LABEL_CHECKS),
)


def warnings_of(inputs: CheckInputs) -> list[DataWarning]:
    """The warnings about the inputs, most serious first."""
    return [warning for check in _CHECKS for warning in check(inputs)]
