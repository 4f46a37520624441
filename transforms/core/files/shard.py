"""Shards: the parts of files that workers read, with their formats (SPEC 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

from msgspec import Struct

from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.compression import Compression
from goodgain.transforms.core.records.adaptation import Adaptation

# Small enough that several workers can share a file of tens of megabytes.
DEFAULT_SHARD_BYTES = 8 * 1024 * 1024
# Opens a path as a seekable binary file, without decompressing.
Open = Callable[[str], BinaryIO]


class InputFile(Struct, frozen=True, order=True):
    """A file to read.

    Attributes:
      path: its path.
      size: its size in bytes.

    Example: see `JoinQrels`.
    """

    path: str
    size: int


class FileShard(Struct, frozen=True):
    """A byte range of one file, with the records that begin in [start, end).

    A line of JSON begins at its first byte, an Avro block at its leading sync marker, a Parquet row
    group at its first page. The shards of a file cover it, so each record is in exactly one of
    them.

    Attributes:
      path: path of the file.
      format: a key of `INPUT_FORMATS`.
      compression: compression of the whole file, which is then a single shard.
      start: first byte.
      end: the byte after the last.
      adaptation: how to convert records to trace records; None if they need no conversion.
      problem: why the file cannot be read at all, in one sentence; None if it can.
      bounds: limits on the memory that reading may take.

    Example: see `FindShards`.
    """

    path: str
    format: str
    compression: Compression
    start: int
    end: int
    problem: str | None = None
    adaptation: Adaptation | None = None
    bounds: ReadBounds = DEFAULT_BOUNDS
