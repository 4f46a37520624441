"""Where traces come from in this process: files of this machine, or records of the caller."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from goodgain.pipeline.inputs.local_files import (
    count_for_progress,
    count_usable_threads,
    open_local,
    read_files,
    read_shards,
)
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.settings.reading_config import ReadingConfig
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.files.shard import FileShard, InputFile
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.conversation_picker import (
    ConversationPicker,
    ConversationRecord,
)
from goodgain.transforms.core.scoring.native_packing import NativePacker
from goodgain.transforms.core.scoring.packing import Packed, Packer
from goodgain.transforms.core.scoring.shard_payloads import (
    payloads_of,
    payloads_of_shard,
)
from goodgain.transforms.core.scoring.sketches import CallSketch, Sketcher

T = TypeVar("T")


class TraceSource(Protocol):
    """Traces that can be read any number of times."""

    def records(self) -> Iterator[SearchCall | RejectedRecord]:
        """Every record, usable or not."""

    def conversations(
        self, wanted: Collection[str], rules: RuleTable
    ) -> Iterator[ConversationRecord]:
        """The records of some conversations, by id; of others at least the ids."""

    def pack(self, packer: Packer | NativePacker) -> Iterator[Packed | RejectedRecord]:
        """The payloads of conversations, and the rejected records."""

    def budget(self, evaluation: Evaluation) -> MemoryBudget:
        """The limit on memory for what is kept of the traces."""


class RecordsInMemory(Struct, frozen=True):
    """Traces that the caller holds, and whose memory is not counted."""

    calls: Sequence[SearchCall | RejectedRecord]

    def records(self) -> Iterator[SearchCall | RejectedRecord]:
        """See `TraceSource`."""
        return iter(self.calls)

    def conversations(self, _: Collection[str], __: RuleTable) -> Iterator[ConversationRecord]:
        """See `TraceSource`."""
        return iter(self.calls)

    def pack(self, packer: Packer | NativePacker) -> Iterator[Packed | RejectedRecord]:
        """See `TraceSource`."""
        return payloads_of(self.calls, packer)

    def budget(self, _: Evaluation) -> MemoryBudget:
        """See `TraceSource`."""
        return MemoryBudget(None)


class LocalFiles(Struct, frozen=True):
    """Traces in files of this machine, read anew each time."""

    files: Sequence[InputFile]
    settings: ReadingConfig

    def records(self) -> Iterator[SearchCall | RejectedRecord]:
        """See `TraceSource`."""
        return read_files(self.files, self.settings.adaptation, self.settings.read_bounds)

    def conversations(
        self, wanted: Collection[str], rules: RuleTable
    ) -> Iterator[ConversationRecord]:
        """See `TraceSource`."""
        picker = ConversationPicker(wanted, rules, count_usable_threads())
        return self._each(lambda shard: count_for_progress(picker.of_shard(shard, open_local)))

    def sketches(self, sketcher: Sketcher) -> Iterator[CallSketch | RejectedRecord]:
        """A sketch for each usable record, and the others."""
        return self._each(lambda shard: count_for_progress(sketcher.of_shard(shard, open_local)))

    def pack(self, packer: Packer | NativePacker) -> Iterator[Packed | RejectedRecord]:
        """See `TraceSource`."""
        return self._each(lambda shard: payloads_of_shard(shard, open_local, packer))

    def budget(self, evaluation: Evaluation) -> MemoryBudget:
        """See `TraceSource`."""
        return evaluation.budget()

    def _each(self, read: Callable[[FileShard], Iterator[T]]) -> Iterator[T | RejectedRecord]:
        settings = self.settings
        return read_shards(self.files, settings.adaptation, settings.read_bounds, read)
