"""The counts in the manifest of a run."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType


class RecordCounts(Struct, frozen=True):
    """What became of the records."""

    read: int
    scored: int
    earlier_turn: int
    redelivered: int
    rejected: int
    late: int
    conflicting_redeliveries: int
    unknown_losses: int
    balance_holds: bool
    too_many_rejected: bool


class ConversationCounts(Struct, frozen=True, omit_defaults=True):
    """What became of the conversations.

    Attributes:
      without_cluster: None without clusters.
    """

    total: int
    in_means: int
    without_search: int
    with_rejected_records: int
    without_cluster: int | None = None


class CountsOfResults(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The results, and why some are duplicates.

    Attributes:
      labelled_duplicates: None if an earlier version did not count them.
      excluded: None without exclusions.
    """

    total: int
    unique: int
    good: int
    duplicates: int
    unlabelled: int
    labelled_duplicates: int | None = None
    label_conflicts: int
    excluded: int | None = None
    by_label: dict[str, int]
    duplicates_by_step: dict[str, int]
    duplicates_by_type: dict[str, int]
    results_by_type: dict[str, int]
    near_misses_by_step: dict[str, int]
    candidates_cut: int


class FileOfRun(Struct, frozen=True):
    """A file that was read.

    Attributes:
      size: bytes.
      size_after: at the end of the run, if it differs; None for a deleted file.
    """

    path: str
    size: int
    size_after: int | UnsetType | None = UNSET


class RowCounts(Struct, frozen=True, kw_only=True):
    """What became of the rows of files beside the traces.

    Attributes:
      files: unset in a stream.
    """

    files: tuple[FileOfRun, ...] | UnsetType = UNSET
    read: int
    joined: int
    repeated: int
    empty: int
    rejected: int


class LabelCounts(RowCounts, frozen=True, kw_only=True):
    """What became of labels beside the traces.

    Attributes:
      replaced: number of labels of the traces in whose place they are.
    """

    replaced: int


class JudgmentCounts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Judgments, and what they were joined with.

    Attributes:
      digest: of the labels; None if an earlier version did not record it.
    """

    files: tuple[FileOfRun, ...]
    digest: str | None = None
    judgments: int
    unjudged: int
    repeated: int
    never_retrieved: int
    judgments_met_again: int
    results_without_id: int
    conversations_without_topic: int
    conversations_with_several_topics: int
    topics: int
    topics_without_conversation: int
    topics_without_judgments: int
    similar_names: int
    results_without_judgment: int


class AspectCounts(Struct, frozen=True):
    """Judgments of aspects."""

    digest: str
    judgments: int
    topics: int


class ExcludedCounts(Struct, frozen=True):
    """What was excluded."""

    digest: str
    pairs: int
    topics: int
    results: int
    judgments: int


class PoolCounts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The pool that a run was measured against.

    Attributes:
      judged_for_aspects: number of its documents of which it says what aspects they cover.
    """

    folder: str
    digest: str
    run_name: str | None
    topic: str | None
    built_with_other_rules: bool
    judged_for_aspects: int = 0
    pooled: int
    matched: int
    outside: int
    outside_pool: int
    weak_documents: int
    conversations_without_topic: int
    conversations_without_pool: int
    conversations_without_good_documents: int
