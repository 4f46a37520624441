"""Reads trace files to payloads: fingerprints of their records by conversation (SPEC 2, 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput

from goodgain.transforms.coders import apply_to_outputs
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.read_counts import ReadCounts
from goodgain.transforms.core.files.shard import (
    DEFAULT_SHARD_BYTES,
    FileShard,
    InputFile,
)
from goodgain.transforms.core.judgments.judgment import LabelRequest
from goodgain.transforms.core.memory_budget import TRACES, MemoryBudget
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.scoring.packers import packer_for, reading_counts
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.shard_payloads import payloads_of_shard
from goodgain.transforms.filesystems import open_plain
from goodgain.transforms.fingerprint import Keyed
from goodgain.transforms.read import REJECTED, FindShards

_LABEL_REQUESTS = "label_requests"
_COUNTS = "counts"


class ReadFiles(NamedTuple):
    """The outputs of `ReadPayloads`.

    Attributes:
      payloads: PCollection[tuple[str, bytes]], (conversation_id, payload), for `ScorePayloads`;
        rejected records flag their conversations in them.
      rejected: PCollection[RejectedRecord], records that cannot be used.
      counts: PCollection[dict[str, int]] to be summed: `records.read`, `records.rejected`,
        `rows.rejected` (rows of `rejected`), `bytes.read` (the size of the inputs if all shards
        were read), and `shards.native` or `shards.python`, by the code that read them; in native
        ones, `records.from_python` counts the records that Python had to parse.
      label_requests: PCollection[LabelRequest], the judgments that records need, for `JoinQrels`;
        empty without `Packing.label_keys`.
    """

    payloads: beam.PCollection[Keyed]
    rejected: beam.PCollection[RejectedRecord]
    counts: beam.PCollection[dict[str, int]]
    label_requests: beam.PCollection[LabelRequest]


@dataclass(eq=False, repr=False)
class ReadPayloads(beam.PTransform):
    """PBegin to `ReadFiles`: reads and fingerprints every record of the files.

    For pipelines that need the records, too, `ReadTraces` and `FingerprintCalls` give the same
    payloads, joined by bundle instead of by shard.

    Attributes:
      inputs: paths or patterns of files, or files with their sizes.
      packing: how records are packed into payloads.
      shard_bytes: how much of a file one worker reads at a time.
      adaptation: renamed fields and the like; None if records need no conversion.
      bounds: limits on the memory that reading may take.
      max_held_bytes: memory limit on an engine that keeps all data in one process; None for
        engines that spill to disk.

    Raises:
      UsageError: `shard_bytes` is below 1.

    Example: see `ScorePayloads`.
    """

    inputs: Sequence[str | InputFile]
    packing: Packing
    shard_bytes: int = DEFAULT_SHARD_BYTES
    adaptation: Adaptation | None = None
    bounds: ReadBounds = DEFAULT_BOUNDS
    max_held_bytes: int | None = None

    def __post_init__(self) -> None:
        self.shards = FindShards(self.inputs, self.shard_bytes, self.adaptation, self.bounds)

    def expand(self, begin: beam.pvalue.PBegin) -> ReadFiles:
        """Read each shard; raises as `FindShards` does."""
        shards = begin | "Shards" >> self.shards
        read = ReadShardPayloads(self.packing, MemoryBudget(self.max_held_bytes, on_engine=True))
        return apply_to_outputs(shards, "ReadShard", read, ReadFiles)


@dataclass(eq=False, repr=False)
class ReadShardPayloads(beam.DoFn):
    """FileShard to its payloads; rejected rows, counts and requests for judgments are tagged."""

    packing: Packing
    budget: MemoryBudget

    def setup(self) -> None:
        """Set up the worker."""
        self._packer = packer_for(self.packing)

    def process(self, shard: FileShard) -> Iterator[Keyed | TaggedOutput]:
        """The payloads of one shard; raises only if it takes too much memory."""
        counts, budget = ReadCounts(), self.budget
        budget.begin_shard()
        for found in payloads_of_shard(shard, open_plain, self._packer):
            if isinstance(found, RejectedRecord):
                counts.add_rejected(found)
                budget.count_read(found.conversation_id, found.reason, found.payload)
                yield TaggedOutput(REJECTED, found)
                continue
            counts.add_calls(found.calls)
            budget.count_read(found.conversation_id, found.payload)
            yield found.conversation_id, found.payload
            if found.label_request is not None:
                names = list(found.label_request.names())
                budget.count_labels(
                    len(names), (found.conversation_id * len(names), *names), TRACES
                )
                yield TaggedOutput(_LABEL_REQUESTS, found.label_request)
        of_shard = {
            **counts.by_name(),
            "rows.rejected": counts.rows,
            "bytes.read": shard.end - shard.start,
            **reading_counts(self._packer),
        }
        yield TaggedOutput(_COUNTS, of_shard)
