"""One evaluation, resolved: all that decides its numbers, before any record is read.

Its hosts are a Beam pipeline in batch (`run.hosts.batch`), a stream (`run.stream`) and this process
(`run.hosts.process`); an explanation observes one conversation of it, a validation its traces.
"""

from __future__ import annotations

from collections.abc import Set
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.inputs.local_files import open_local
from goodgain.pipeline.inputs.storage import Storage
from goodgain.pipeline.results.opened_pool import OpenedPool, open_pool
from goodgain.pipeline.run.plan.aspect_judgments import read_aspect_judgments
from goodgain.pipeline.run.plan.exclusions import read_exclusions
from goodgain.pipeline.run.plan.given_tables import GivenTable, RowsHere, find_table, read_table
from goodgain.pipeline.run.plan.judgments import Judged, find_judgments, read_judgments
from goodgain.pipeline.run.plan.traces import TraceSet, find_traces
from goodgain.pipeline.settings.run_config import ExplainConfig
from goodgain.pipeline.settings.scoring_config import ScoringConfig
from goodgain.pipeline.settings.struct_options import values_for
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.labels import LabelTable
from goodgain.transforms.core.files.outcomes import OutcomesOfRow, OutcomeTable
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.result_labels import ResultLabel
from goodgain.transforms.core.memory_budget import MemoryBudget, default_memory_budget
from goodgain.transforms.core.metrics.by_name import remember
from goodgain.transforms.core.metrics.outcomes import remember_outcomes
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring.options import ScoringOptions
from goodgain.transforms.core.scoring.settings import Scoring

_MILLIS = 1_000  # of a second


class Held(Struct, frozen=True):
    """What the caller holds in memory instead of in files; None = nothing of the kind."""

    labels: RowsHere[ResultLabel] | None = None
    judged: Judged | None = None
    outcomes: RowsHere[OutcomesOfRow] | None = None
    exclusions: Exclusions | None = None


NOTHING_HELD = Held()


class Evaluation(Struct, frozen=True):
    """What is evaluated, with which labels, rules and limits.

    Attributes:
      settings: of a run, a stream or an explanation.
      scoring: what follows from them for scoring conversations.
      qrels: files of judgments that replace the labels of the traces.
      labels: labels of single results.
      outcomes: outcomes of conversations from outside the traces.
      pool: the pool whose labels override those of the traces.
      pool_bytes: bytes of its files.
      held: labels, judgments and outcomes that need not be read.
    """

    settings: ScoringConfig
    traces: TraceSet
    scoring: Scoring
    pool: OpenedPool | None = None
    pool_bytes: int = 0
    qrels: tuple[InputFile, ...] = ()
    labels: GivenTable[ResultLabel] = GivenTable(LabelTable())
    outcomes: GivenTable[OutcomesOfRow] = GivenTable(OutcomeTable())
    held: Held = NOTHING_HELD

    @property
    def max_held_bytes(self) -> int:
        """The limit on memory for traces, judgments, labels and the pool in one process."""
        if isinstance(self.settings, ExplainConfig) and self.settings.max_held_bytes:
            return self.settings.max_held_bytes
        judgments = sum(file.size for file in self.qrels)
        beside = self.pool_bytes + self.labels.size + self.outcomes.size + judgments
        return default_memory_budget(self.traces.size + beside)

    def budget(self) -> MemoryBudget:
        """A count of the memory that is held, up to `max_held_bytes`."""
        return MemoryBudget(self.max_held_bytes)

    def read_labels(self, budget: MemoryBudget) -> RowsHere[ResultLabel]:
        """All labels of single results; raises as `read_table` does."""
        return self.held.labels or read_table(self.labels, open_local, budget)

    def read_outcomes(self, budget: MemoryBudget) -> RowsHere[OutcomesOfRow]:
        """All outcomes from outside the traces; raises as `read_table` does."""
        return self.held.outcomes or read_table(self.outcomes, open_local, budget)

    def read_judgments(self, budget: MemoryBudget, topics: Set[str] | None = None) -> Judged:
        """The judgments, at least those of the topics; None = all.

        Raises:
          UsageError: one cannot be used, or differs from another.
          GoodGainError: there are more than `budget` allows.
        """
        if self.held.judged is not None:
            return self.held.judged
        return read_judgments(self.qrels, open_local, budget, topics, self.settings.label_map)


def find_evaluation(
    settings: ExplainConfig, storage: Storage, clock: datetime | None = None
) -> Evaluation:
    """Find the traces of an evaluation, and open all else; see `open_evaluation`.

    Raises:
      UsageError: traces, rules, or what labels the results cannot be found or used.
    """
    return open_evaluation(settings, find_traces(settings, settings.input, storage), storage, clock)


def open_evaluation(
    settings: ExplainConfig,
    traces: TraceSet,
    storage: Storage,
    clock: datetime | None = None,
    held: Held = NOTHING_HELD,
) -> Evaluation:
    """Open all that is needed besides the traces.

    Args:
      clock: when the run began; None for an explanation.
      held: what the caller holds, so that no file of it is read.

    Raises:
      UsageError: judgments, exclusions, labels, outcomes or pool cannot be found or used.
    """
    opened = open_scoring(settings, traces, storage, clock, held)
    keys, scoring, exclusions = settings.name_keys, opened.scoring, held.exclusions
    if settings.exclude and exclusions is None:
        exclusions = read_exclusions(settings.exclude, keys, storage, opened.budget())
    if opened.pool is not None:
        opened.pool.check_exclusions(exclusions)
    scoring = replace(scoring, exclusions=exclusions)
    if settings.aspect_qrels:
        judged = read_aspect_judgments(
            settings.aspect_qrels, keys, storage, opened.budget(), exclusions
        )
        scoring = replace(scoring, aspect_judgments=judged)
    qrels: tuple[InputFile, ...] = ()
    if settings.qrels:
        held_here = held.judged is not None
        qrels = (
            (InputFile(settings.qrels, 0),)
            if held_here
            else find_judgments(settings.qrels, storage)
        )
    labels = opened.labels if held.labels is None else held.labels.given
    if settings.labels and held.labels is None:
        table = LabelTable(settings.iteration_base, settings.label_scale)
        labels = find_table(settings.labels, table, storage)
    return replace(opened, scoring=scoring, qrels=qrels, labels=labels)


def open_scoring(
    settings: ScoringConfig,
    traces: TraceSet,
    storage: Storage,
    clock: datetime | None = None,
    held: Held = NOTHING_HELD,
) -> Evaluation:
    """Like `open_evaluation`, but labels come only with the traces or from a pool.

    Raises:
      UsageError: outcomes or pool cannot be found or used.
    """
    pool = open_pool(settings.pool, settings.run_name, storage.open) if settings.pool else None
    if pool is not None and pool.manifest.unit != settings.unit:
        unit = pool.manifest.unit
        raise UsageError(
            f"The pool {pool.folder} holds {unit}s, not {settings.unit}s: give "
            + Remedy("unit", unit)
            + ", or leave out "
            + Remedy("pool")
            + "."
        )
    use = None if pool is None else pool.use
    pool_files = () if use is None else storage.find([use.files.pattern])
    given = held.outcomes.given if held.outcomes else _find_outcomes(settings, storage)
    outcomes = settings.wanted_outcomes(traces.seen.outcomes | given.seen)
    remember_outcomes(outcomes)
    own = settings.own
    for metric in own:
        remember(metric)
    seen_first: dict[str, Any] = {
        "cost": settings.costs(traces.seen.costs),
        "outcome": tuple(map(str, outcomes)),
        "usage": settings.uses(traces.seen),
    }
    scoring = Scoring(
        rules=traces.rules,
        own=own,
        label_keys=settings.label_keys,
        clock=None if clock is None else int(clock.timestamp() * _MILLIS),
        pool=use,
        aspects=traces.seen.aspects or (use is not None and use.aspects),
        **(values_for(ScoringOptions, settings) | seen_first),
    )
    pool_bytes = sum(file.size for file in pool_files)
    return Evaluation(settings, traces, scoring, pool, pool_bytes, outcomes=given, held=held)


def _find_outcomes(settings: ScoringConfig, storage: Storage) -> GivenTable[OutcomesOfRow]:
    table = OutcomeTable(settings.outcome_names)
    if settings.outcomes is None:
        return GivenTable(table)
    return find_table(settings.outcomes, table, storage)
