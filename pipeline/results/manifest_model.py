"""The manifest of a run: what it builds, writes, and what other commands read back."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.metric import DescribedMetric, Metric
from goodgain.transforms.core.warnings.warning import DataWarning


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


class RunOptions(Struct, frozen=True):
    """The options of a run that other commands use."""

    input: tuple[str, ...]
    output: str
    metrics: tuple[str, ...]
    max_i: int
    good_gain_threshold: int
    g_max: int
    max_rejected: int | float | str
    slice: tuple[tuple[str, ...], ...] = ()
    cluster: str | None = None
    cost: tuple[Any, ...] | None = None
    budget: tuple[Any, ...] | None = None
    pass_: tuple[Any, ...] | None = None
    interval: Interval = "hall"
    relevance_threshold: int | None = None
    rules: str | None = None
    qrels: str | None = None
    pool: str | None = None
    allow_unlabelled: bool = False
    allow_no_good: bool = False
    allow_contradicted_ids: bool = False


class RunManifest(Struct, frozen=True, kw_only=True, omit_defaults=True, dict=True):
    """The manifest of a run; what it lacks was not given to the run.

    Attributes:
      parameters: all options, by name; `options` has those that other commands use.
      started, finished: UTC, in whole milliseconds.
      own_metrics: those of the user.
      outcomes: as `parse_outcome` reads them.
    """

    records: RecordCounts
    conversations: ConversationCounts
    results: CountsOfResults
    qrels: JudgmentCounts | None = None
    aspect_qrels: AspectCounts | None = None
    exclude: ExcludedCounts | None = None
    labels: LabelCounts | None = None
    outcome_rows: RowCounts | None = None
    warnings: tuple[DataWarning, ...]
    pool: PoolCounts | None = None
    datasets: dict[str, int]
    parameters: dict[str, Any]
    rules_digest: str
    scoring_version: int
    inputs: tuple[FileOfRun, ...]
    engine: str
    reading: str
    versions: dict[str, str]
    started: datetime
    finished: datetime
    own_metrics: tuple[DescribedMetric, ...] = ()
    outcomes: tuple[str, ...] = ()

    @cached_property
    def options(self) -> RunOptions:
        """The options that other commands use.

        Raises:
          msgspec.ValidationError: one is missing or has another type.
        """
        return msgspec.convert(self.parameters, RunOptions)

    @property
    def aspects_outside(self) -> bool:
        """Whether judgments outside the traces say which aspects documents cover."""
        return bool(self.aspect_qrels or (self.pool and self.pool.judged_for_aspects))

    def has_own_ideal(self, metric: Metric) -> bool:
        """Whether a metric is measured by what the run itself found, for lack of judgments."""
        outside = self.aspects_outside if metric.of_aspects else self.qrels or self.pool
        return metric.own_ideal and not outside


class Declared(Struct, frozen=True):
    """What the outputs of a run or a comparison declare themselves; see `RunManifest`."""

    own_metrics: tuple[DescribedMetric, ...] = ()
    outcomes: tuple[str, ...] = ()
