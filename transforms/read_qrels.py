"""Reads external judgments from files (SPEC 8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput

from goodgain.transforms.coders import apply_to_outputs
from goodgain.transforms.core.files.qrels import read_qrels
from goodgain.transforms.core.files.shard import DEFAULT_SHARD_BYTES, FileShard, InputFile
from goodgain.transforms.core.judgments.judgment import (
    Judgment,
    QrelsProblem,
)
from goodgain.transforms.core.memory_budget import MemoryBudget, rows_of
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.filesystems import open_plain
from goodgain.transforms.read import PlanShards

_PROBLEMS = "problems"
# Beam queues a shard's content until the engine takes it, and a judgment is ten times as large
# there as in a file.
_MOST_SHARD_BYTES = 1024 * 1024
_ROWS = rows_of("qrels")


class Judgments(NamedTuple):
    """The outputs of reading judgment files.

    Attributes:
      problems: PCollection[QrelsProblem]; if there is any, labels are missing.
    """

    judgments: beam.PCollection[Judgment]
    problems: beam.PCollection[QrelsProblem]


@dataclass(eq=False, repr=False)
class ReadQrels(beam.PTransform):
    """PBegin to Judgments: TREC qrels or tables, split over workers by byte ranges.

    Attributes:
      files: the files to read; the place of a judgment has the index of its file in this list.
      shard_bytes: how much of a file one worker reads at a time, at most 1 MiB.
      max_held_bytes: memory limit on an engine that keeps all data in one process; None = none.
      label_map: the gains of labels on another scale, like `2=1`; none = labels are gains.

    Example: see `JoinQrels`.
    """

    files: Sequence[InputFile]
    shard_bytes: int = DEFAULT_SHARD_BYTES
    max_held_bytes: int | None = None
    label_map: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.shard_bytes = min(self.shard_bytes, _MOST_SHARD_BYTES)

    def expand(self, begin: beam.pvalue.PBegin) -> Judgments:
        """Apply the transform."""
        shards = (
            begin
            | "Files" >> beam.Create(self.files)
            | "PlanShards"
            >> beam.ParDo(
                PlanShards(self.shard_bytes, Adaptation(label_map=self.label_map), of_traces=False)
            )
            | "Spread" >> beam.Reshuffle()
        )
        numbers = {file.path: number for number, file in enumerate(self.files)}
        read = _ReadShard(numbers, MemoryBudget(self.max_held_bytes, on_engine=True))
        return apply_to_outputs(shards, "ReadShard", read, Judgments)


@dataclass(eq=False, repr=False)
class _ReadShard(beam.DoFn):
    numbers: dict[str, int]
    budget: MemoryBudget

    def process(self, shard: FileShard) -> Iterator[Judgment | TaggedOutput]:
        for judgment in read_qrels(shard, self.numbers[shard.path], open_plain):
            if isinstance(judgment, Judgment):
                self.budget.count_label(judgment.topic, judgment.document, what=_ROWS)
                yield judgment
            else:
                self.budget.count_label(judgment.text, what=_ROWS)
                yield TaggedOutput(_PROBLEMS, judgment)
