"""Reads local trace files without Beam (SPEC 2, 3)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import BinaryIO, TypeVar

from goodgain.pipeline.inputs import progress
from goodgain.pipeline.inputs.storage import Storage
from goodgain.transforms.core.errors import UsageError, missing_file
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.shard import FileShard, InputFile
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.files.shard_reader import Records, read_shard, reject_unreadable
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.file_listing import find_files

T = TypeVar("T")

# One thread joins what the others read, so that more of them would wait for it.
_MOST_THREADS = 4
_OTHER_FILESYSTEM = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.\-]+://")


def find_local_files(patterns: Sequence[str]) -> list[InputFile]:
    """The files that match the patterns, each once, sorted by path.

    Args:
      patterns: paths of local files, folders or patterns, as in `find_files`.

    Raises:
      UsageError: a pattern matches no file, or is on another filesystem.
    """
    found = {file.path: file for pattern in patterns for file in _find(pattern)}
    return sorted(found.values(), key=lambda file: file.path)


def _find(pattern: str) -> list[InputFile]:
    if _OTHER_FILESYSTEM.match(pattern):
        raise UsageError(
            f"{pattern} is not on this machine; only `goodgain run` reads other filesystems: copy "
            "the file here, or use `goodgain run`."
        )
    path = pattern.removeprefix("file://")
    files = find_files(path)
    if not files and os.path.isdir(path):
        raise UsageError(f"The folder {path} contains no files; check the path.")
    if not files:
        raise missing_file(
            pattern, f"No file matches {pattern}; check the path, and quote its wildcards."
        )
    return files


def read_files(
    files: Iterable[InputFile],
    adaptation: Adaptation | None = None,
    bounds: ReadBounds = DEFAULT_BOUNDS,
) -> Records:
    """The calls and rejected rows of files, in file order, read lazily; counts progress.

    Bad content never raises; an unreadable file becomes one rejected row (SPEC 3).
    """
    return read_shards(
        files, adaptation, bounds, lambda shard: count_for_progress(read_shard(shard, open_local))
    )


def read_shards(
    files: Iterable[InputFile],
    adaptation: Adaptation | None,
    bounds: ReadBounds,
    read: Callable[[FileShard], Iterator[T]],
) -> Iterator[T | RejectedRecord]:
    """What `read` finds in each shard, and a row for each unreadable file; counts progress."""
    for shard in chain.from_iterable(shards_of(file, adaptation, bounds) for file in files):
        if isinstance(shard, RejectedRecord):
            yield shard
        else:
            yield from read(shard)
            progress.advance({"bytes.read": shard.end - shard.start})


def count_for_progress(records: Iterator[T]) -> Iterator[T]:
    """What is read of the records of a shard, counted at its end."""
    read = rejected = 0
    for record in records:
        yield record
        read += 1
        rejected += isinstance(record, RejectedRecord)
    progress.advance({"records.read": read, "records.rejected": rejected})


def shards_of(
    file: InputFile, adaptation: Adaptation | None = None, bounds: ReadBounds = DEFAULT_BOUNDS
) -> Iterator[FileShard | RejectedRecord]:
    """The shards of a file; a rejected row if it cannot be opened."""
    try:
        with open_local(file.path) as opened:
            shards = plan_shards(opened, file.path, file.size, adaptation=adaptation, bounds=bounds)
    except OSError as error:
        yield reject_unreadable(file.path, error)
        return
    yield from shards


def open_local(path: str) -> BinaryIO:
    """Open a local file for reading its raw bytes."""
    return open(path, "rb")


LOCAL = Storage(find_local_files, open_local)


def count_usable_threads() -> int:
    """How many threads may read a file: one for each core that this process may use, up to 4."""
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), _MOST_THREADS)
    return min(os.cpu_count() or 1, _MOST_THREADS)
