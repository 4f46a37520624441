"""The manifest of a run: what it builds, writes, and what other commands read back."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Struct

from goodgain.pipeline.results.manifest_counts import (
    AspectCounts,
    ConversationCounts,
    CountsOfResults,
    ExcludedCounts,
    FileOfRun,
    JudgmentCounts,
    LabelCounts,
    PoolCounts,
    RecordCounts,
    RowCounts,
)
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.metric import DescribedMetric, Metric
from goodgain.transforms.core.warnings.warning import DataWarning


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
    outcome: tuple[str, ...] | None = None
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
        return metric.has_own_ideal(bool(self.qrels or self.pool), self.aspects_outside)


class Declared(Struct, frozen=True):
    """What the outputs of a run or a comparison declare themselves; see `RunManifest`."""

    own_metrics: tuple[DescribedMetric, ...] = ()
    outcomes: tuple[str, ...] = ()
