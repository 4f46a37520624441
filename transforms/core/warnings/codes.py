"""The codes of data warnings (SPEC 10)."""

EMPTY_INPUT = "empty_input"
NO_RESULTS = "no_results"
NO_LABELS = "no_labels"
LABELS_BELOW_THRESHOLD = "labels_below_threshold"
LABELS_BELOW_RELEVANCE_THRESHOLD = "labels_below_relevance_threshold"
IDS_CONTRADICTED = "ids_contradicted"
CONFLICTING_REDELIVERIES = "conflicting_redeliveries"
CONVERSATIONS_WITHOUT_TOPIC = "conversations_without_topic"
SEVERAL_TOPICS = "conversations_with_several_topics"
FEW_LABELS = "few_labels"
UNKNOWN_FIELDS = "unknown_fields"
NO_IDENTITY = "no_identity"
NO_DUPLICATES = "no_duplicates"
ONLY_ONE_ITERATION = "only_one_iteration"
FEW_EFFECTIVE_CLUSTERS = "few_effective_clusters"
BEYOND_CUTOFF = "beyond_cutoff"
MOSTLY_UNDEFINED = "mostly_undefined"
ODD_TIMES = "odd_times"
LABEL_CONFLICTS = "label_conflicts"
LABELS_OF_PASSAGES = "labels_of_passages"
SIMILAR_NAMES = "similar_names"
JUDGMENTS_MET_AGAIN = "judgments_met_again"
OUTSIDE_POOL = "outside_pool"
WEAK_DOCUMENTS = "weak_documents"
CALLS_FAILED = "calls_failed"
LABELS_APART = "labels_apart"
REJECTED_LABELS = "rejected_labels"
REJECTED_OUTCOMES = "rejected_outcomes"
NONE = "none"  # instead of a code, if there are no warnings
# Most serious first.
CODES = (
    EMPTY_INPUT, NO_RESULTS, NO_LABELS, LABELS_BELOW_THRESHOLD, LABELS_BELOW_RELEVANCE_THRESHOLD,
    IDS_CONTRADICTED, CONFLICTING_REDELIVERIES, CONVERSATIONS_WITHOUT_TOPIC, SEVERAL_TOPICS,
    FEW_LABELS, UNKNOWN_FIELDS, NO_IDENTITY, NO_DUPLICATES, ONLY_ONE_ITERATION,
    FEW_EFFECTIVE_CLUSTERS, BEYOND_CUTOFF, MOSTLY_UNDEFINED, CALLS_FAILED, ODD_TIMES,
    LABEL_CONFLICTS, LABELS_OF_PASSAGES, SIMILAR_NAMES, JUDGMENTS_MET_AGAIN, OUTSIDE_POOL,
    WEAK_DOCUMENTS, LABELS_APART, REJECTED_LABELS, REJECTED_OUTCOMES,
)  # fmt: skip
