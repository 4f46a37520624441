"""Data warnings, and which of them make a run exit with code 3 (SPEC 10)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

NO_RESULTS = "no_results"
NO_LABELS = "no_labels"
FEW_LABELS = "few_labels"
LABELS_BELOW_THRESHOLD = "labels_below_threshold"
LABELS_BELOW_RELEVANCE_THRESHOLD = "labels_below_relevance_threshold"
NO_IDENTITY = "no_identity"
NO_DUPLICATES = "no_duplicates"
ONLY_ONE_ITERATION = "only_one_iteration"
UNKNOWN_FIELDS = "unknown_fields"
ODD_TIMES = "odd_times"
FEW_EFFECTIVE_CLUSTERS = "few_effective_clusters"
EMPTY_INPUT = "empty_input"
LABEL_CONFLICTS = "label_conflicts"
JUDGMENTS_MET_AGAIN = "judgments_met_again"
NONE = "none"  # instead of a code, if there are no warnings
OUTSIDE_POOL = "outside_pool"
WEAK_DOCUMENTS = "weak_documents"
LABELS_APART = "labels_apart"
REJECTED_LABELS = "rejected_labels"
CONFLICTING_REDELIVERIES = "conflicting_redeliveries"
CONVERSATIONS_WITHOUT_TOPIC = "conversations_without_topic"
SEVERAL_TOPICS = "conversations_with_several_topics"
CODES = (
    EMPTY_INPUT,
    NO_RESULTS,
    NO_LABELS,
    LABELS_BELOW_THRESHOLD,
    LABELS_BELOW_RELEVANCE_THRESHOLD,
    CONFLICTING_REDELIVERIES,
    CONVERSATIONS_WITHOUT_TOPIC,
    SEVERAL_TOPICS,
    FEW_LABELS,
    UNKNOWN_FIELDS,
    NO_IDENTITY,
    NO_DUPLICATES,
    ONLY_ONE_ITERATION,
    FEW_EFFECTIVE_CLUSTERS,
    ODD_TIMES,
    LABEL_CONFLICTS,
    JUDGMENTS_MET_AGAIN,
    OUTSIDE_POOL,
    WEAK_DOCUMENTS,
    LABELS_APART,
    REJECTED_LABELS,
)
_ENOUGH_LABELS = 30  # fewer labels may all be bad by chance


class DataWarning(Struct, frozen=True):
    """A finding in the data that makes numbers less meaningful than they seem.

    Attributes:
      code: a short name, like `no_labels`.
      count: number of affected results, records, names or clusters.
      share: their share of all, 0 to 1; None for names and clusters.
      message: the finding and its effect on the numbers.
      remedy: what the user can do.

    Example:
      >>> import goodgain as gg
      >>> call = {"conversation_id": "c", "iteration": 1, "results": [{"relevance": 3}]}
      >>> found: list[gg.DataWarning] = gg.evaluate([call]).warnings
      >>> [one.code for one in found]
      ['no_labels', 'unknown_fields', 'no_identity']
    """

    code: str
    count: int
    share: float | None
    message: str
    remedy: str


def allowed_codes(*, unlabelled: bool, no_good: bool) -> frozenset[str]:
    """The codes accepted by `--allow-unlabelled` and `--allow-no-good`."""
    codes = (NO_RESULTS, NO_LABELS) if unlabelled else ()
    return frozenset((*codes, LABELS_BELOW_THRESHOLD) if no_good else codes)


def failing(warnings: Iterable[DataWarning], allowed: Collection[str]) -> list[DataWarning]:
    """The warnings that make a run exit with code 3, even though its outputs are written."""
    return [one for one in warnings if _is_failing(one) and one.code not in allowed]


def _is_failing(warning: DataWarning) -> bool:
    if warning.code == LABELS_BELOW_THRESHOLD:
        return warning.count >= _ENOUGH_LABELS
    return warning.code in (EMPTY_INPUT, NO_RESULTS, NO_LABELS)
