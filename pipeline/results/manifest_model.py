"""What the manifest of a run holds, as far as commands read it back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from goodgain.transforms.core.metric import Direction
from goodgain.transforms.core.warnings.warning import DataWarning


class DescribedMetric(Struct, frozen=True):
    """A metric of the user's own; see `goodgain.transforms.core.metric.Metric`."""

    name: str
    unit: str
    meaning: str
    direction: Direction
    undefined: str
    formula: str
    whole: bool
    needs_labels: bool
    caution: str
    words: str


class Declared(Struct, frozen=True):
    """What the outputs of a run or a comparison declare themselves."""

    own_metrics: tuple[DescribedMetric, ...] = ()
    outcomes: tuple[str, ...] = ()


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


class ConversationCounts(Struct, frozen=True):
    """What became of the conversations."""

    total: int
    in_means: int
    without_search: int
    with_rejected_records: int
    without_cluster: int = 0


class CountsOfResults(Struct, frozen=True):
    """The results, and why some are duplicates.

    Attributes:
      labelled_duplicates: 0 if an earlier version did not count them.
    """

    total: int
    unique: int
    good: int
    duplicates: int
    unlabelled: int
    label_conflicts: int
    candidates_cut: int
    by_label: dict[str, int]
    duplicates_by_step: dict[str, int]
    duplicates_by_type: dict[str, int]
    results_by_type: dict[str, int]
    near_misses_by_step: dict[str, int]
    labelled_duplicates: int = 0


class FileOfRun(Struct, frozen=True):
    """A file that was read.

    Attributes:
      size: bytes.
      size_after: at the end of the run; None for a deleted file.
    """

    path: str
    size: int
    size_after: int | None = None


class RowCounts(Struct, frozen=True):
    """What became of the rows of files beside the traces."""

    read: int
    joined: int
    repeated: int
    empty: int
    rejected: int
    replaced: int = 0


class JudgmentCounts(Struct, frozen=True):
    """Judgments, and what they were joined with.

    Attributes:
      digest: of the labels; None if an earlier version did not record it.
    """

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
    digest: str | None = None


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


class PoolCounts(Struct, frozen=True):
    """The pool that a run was measured against."""

    folder: str
    digest: str
    run_name: str | None
    topic: str | None
    built_with_other_rules: bool
    pooled: int
    matched: int
    outside: int
    outside_pool: int
    weak_documents: int
    conversations_without_topic: int
    conversations_without_pool: int
    conversations_without_good_documents: int
    judged_for_aspects: Any = None


class RunParameters(Struct, frozen=True):
    """The options of a run that other commands use; another version may have others besides."""

    input: tuple[str, ...]
    output: str
    metrics: tuple[str, ...]
    max_i: int
    good_gain_threshold: int
    g_max: int
    max_rejected: int | float | str
    slice: tuple[tuple[str, ...], ...] = ()
    cluster: str | None = None
    interval: str = "hall"
    relevance_threshold: int | None = None
    rules: str | None = None
    allow_unlabelled: bool = False
    allow_no_good: bool = False
    allow_contradicted_ids: bool = False


class RunManifest(Declared, frozen=True, kw_only=True):
    """The manifest of a run; what it lacks was not given to the run."""

    records: RecordCounts
    conversations: ConversationCounts
    results: CountsOfResults
    qrels: JudgmentCounts | None = None
    aspect_qrels: AspectCounts | None = None
    exclude: ExcludedCounts | None = None
    labels: RowCounts | None = None
    outcome_rows: RowCounts | None = None
    warnings: tuple[DataWarning, ...]
    pool: PoolCounts | None = None
    datasets: dict[str, int]
    parameters: RunParameters
    rules_digest: str
    scoring_version: int
    inputs: tuple[FileOfRun, ...]
    engine: str
    reading: str
    versions: dict[str, str]
    started: datetime
    finished: datetime
