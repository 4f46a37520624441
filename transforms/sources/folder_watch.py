"""Watches a folder: decides whether to read a file, move the watermark, or wait."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.files.record_packer import RecordOrPacked, RecordPacker
from goodgain.transforms.core.files.shard import FileShard, InputFile
from goodgain.transforms.core.streaming.folder_progress import (
    FolderProgress,
    TakenFile,
    name_digest,
)
from goodgain.transforms.core.streaming.watermark import (
    advance,
    advance_in_silence,
    note_times,
)
from goodgain.transforms.file_listing import LocalFile
from goodgain.transforms.read import PlanShards
from goodgain.transforms.sources.folder_files import (
    list_folder,
    read_timed,
    reject_changed_file,
)
from goodgain.transforms.sources.folder_source import FolderSource

_LOGGER = logging.getLogger(__name__)
# Pause between listings, relative to the time of one; 20,000 files take 0.2 s.
_LEAST_PAUSE = 10


class ReadPart(Struct, frozen=True):
    """A step: read the next shard of a file.

    Attributes:
      file: the file, with the number of shards read before.
      shard: None if the file has no more shards, like an empty one.
    """

    file: TakenFile
    shard: FileShard | None


class ReportChange(Struct, frozen=True):
    """A step: report that a file has changed since it was taken with a size of `taken` bytes."""

    file: LocalFile
    taken: int


class MoveWatermark(Struct, frozen=True):
    """A step: move the watermark.

    Attributes:
      progress: the progress after it.
      ahead: number of records since the last move that were too far ahead to move it.
    """

    progress: FolderProgress
    ahead: int = 0


Step = ReadPart | ReportChange | MoveWatermark


class FolderWatch:
    """Decides from the progress through a folder, and from what is in it, on the next step.

    The watermark moves only after all files of one listing have been read, since these may be in
    any order; in a backlog, after each portion. What this object remembers itself, like the last
    listing, saves time only: the progress is all that a new process needs.
    """

    def __init__(self, source: FolderSource, now_ms: Callable[[], int]) -> None:
        self.source = source
        self._now_ms = now_ms
        self._active_ms = now_ms()
        self._listed: deque[LocalFile] = deque()
        # A killed process leaves a listing unfinished; the next one completes it.
        self._has_listed = False
        self._next_listing_ms = 0
        self._plans: dict[tuple[str, int], list[FileShard]] = {}
        self._last_warning = ""

    def next_step(self, progress: FolderProgress) -> tuple[Step | None, FolderProgress]:
        """The next step, None if there is nothing to do, and the progress without deleted files.

        While the folder is missing, the source waits: it logs this once, and neither takes files
        nor moves the watermark.
        """
        try:
            # Also checked before files that are listed, since the folder may be unmounted.
            os.scandir(self.source.folder).close()
            step, progress = self._step(progress)
        except OSError as error:
            self._active_ms = self._now_ms()  # an outage does not count as silence
            self._warn_once(f"The folder {self.source.folder} cannot be listed: {error}.")
            return None, progress
        self._last_warning = ""
        if isinstance(step, MoveWatermark) and step.progress.watermark_state.silent:
            self._active_ms += self.source.rule.idle_ms
        elif step is not None:
            self._active_ms = self._now_ms()
        return step, progress

    def records(
        self, step: ReadPart | ReportChange, packer: RecordPacker | None = None
    ) -> Iterator[RecordOrPacked]:
        """The output of a step: the records of a shard, or the row for a file that changed.

        A call without a timestamp is rejected. The packer is as in `read_timed`.
        """
        if isinstance(step, ReportChange):
            yield reject_changed_file(step.file, step.taken, self._path(step.file.name))
        elif step.shard is not None:
            yield from read_timed(step.shard, packer)

    def after(
        self, step: ReadPart | ReportChange, times: Sequence[int], progress: FolderProgress
    ) -> FolderProgress:
        """The progress after a step.

        Args:
          times: event times of the records that it has read, in ms.
          progress: before the step.
        """
        if isinstance(step, ReportChange):
            sizes = {**progress.sizes, name_digest(step.file.name): step.file.size}
            return replace(progress, sizes=sizes)
        file = replace(step.file, shards=step.file.shards + 1)
        if progress.file is None:  # it was taken by this step
            progress = replace(
                progress,
                sizes={**progress.sizes, name_digest(file.name): file.size},
                portion=progress.portion + 1,
                portion_bytes=progress.portion_bytes + file.size,
            )
        has_more = file.shards < len(self._shards(file))
        state = note_times(progress.watermark_state, times, self._now_ms(), self.source.rule)
        return replace(progress, watermark_state=state, file=file if has_more else None)

    def next_file(self, progress: FolderProgress) -> ReadPart | None:
        """The step that takes another listed file, if the portion has room for it."""
        while self._listed and not os.path.exists(self._path(self._listed[0].name)):
            self._listed.popleft()
        if not self._listed or progress.portion_bytes >= self.source.portion_bytes:
            return None
        listed = self._listed.popleft()
        return self._read(TakenFile(listed.name, listed.size, self._now_ms()))

    def _step(self, progress: FolderProgress) -> tuple[Step | None, FolderProgress]:
        if progress.file is not None:
            return self._read(progress.file), progress
        if not self._listed and not (progress.portion and self._has_listed):
            began_ms = self._now_ms()
            if began_ms < self._next_listing_ms:
                return None, progress
            source = self.source
            listing = list_folder(
                source.folder, progress.sizes, source.settle_ms, began_ms, source.since_ms
            )
            ended_ms = self._now_ms()
            self._next_listing_ms = ended_ms + _LEAST_PAUSE * (ended_ms - began_ms)
            # If none is present, another folder may be mounted there for a while.
            if listing.known and len(listing.known) < len(progress.sizes):
                present = {digest: progress.sizes[digest] for digest in listing.known}
                progress = replace(progress, sizes=present)
            for file in listing.changed:
                return ReportChange(file, progress.sizes[name_digest(file.name)]), progress
            self._has_listed = True
            self._listed.extend(
                sorted(listing.new, key=attrgetter("name")) if source.by_name else listing.new
            )
        return self.next_file(progress) or self._move(progress), progress

    def _read(self, file: TakenFile) -> ReadPart:
        shards = self._shards(file)
        # A file that has disappeared since its first shard has one shard, which says so.
        at = 0 if shards and shards[0].problem else file.shards
        return ReadPart(file, shards[at] if at < len(shards) else None)

    def _move(self, progress: FolderProgress) -> MoveWatermark | None:
        if progress.portion:
            state, ahead = advance(progress.watermark_state, self.source.rule)
            moved = replace(progress, watermark_state=state, portion=0, portion_bytes=0)
            return MoveWatermark(moved, ahead)
        if self._now_ms() - self._active_ms < self.source.rule.idle_ms:
            return None
        state = advance_in_silence(progress.watermark_state, self.source.rule)
        return MoveWatermark(replace(progress, watermark_state=state))

    def _shards(self, file: TakenFile) -> list[FileShard]:
        taken = (file.name, file.clock)
        if taken not in self._plans:
            plan = PlanShards(
                self.source.shard_bytes, self.source.adaptation, bounds=self.source.bounds
            )
            input_file = InputFile(self._path(file.name), file.size)
            self._plans = {taken: list(plan.process(input_file))}
        return self._plans[taken]

    def _path(self, name: str) -> str:
        return os.path.join(self.source.folder, name)

    def _warn_once(self, warning: str) -> None:
        if warning != self._last_warning:
            _LOGGER.warning("%s Waiting until it can.", warning)
            self._last_warning = warning
