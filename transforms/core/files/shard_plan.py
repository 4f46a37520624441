"""Recognises the format of a file, and splits it into shards."""

from __future__ import annotations

from typing import BinaryIO

from msgspec.structs import replace

from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.compression import Compression, compression_of, read_beginning
from goodgain.transforms.core.files.input_formats import CSV, INPUT_FORMATS, JSONL
from goodgain.transforms.core.files.judgment_rows import is_table
from goodgain.transforms.core.files.shard import DEFAULT_SHARD_BYTES, FileShard
from goodgain.transforms.core.records.adaptation import Adaptation

_HEAD_BYTES = 4096
_COMPRESSION_SUFFIXES = (".gz", ".gzip", ".bz2", ".bzip2", ".zst", ".zstd")
_OTHER_FORMATS = {
    b"PK\x03\x04": "a zip archive",
    b"\xfd7zXZ\x00": "compressed by xz",
    b"\x04\x22\x4d\x18": "compressed by lz4",
    b"ORC": "an ORC file",
    b"%PDF": "a PDF document",
    b"SQLite format 3\x00": "a SQLite database",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}


def plan_shards(
    file: BinaryIO,
    path: str,
    size: int,
    shard_bytes: int = DEFAULT_SHARD_BYTES,
    adaptation: Adaptation | None = None,
    of_traces: bool = True,
    bounds: ReadBounds = DEFAULT_BOUNDS,
) -> list[FileShard]:
    """Split one file into shards, equal in size except for the last.

    The content determines the format, and the name only if the content is ambiguous, so that a file
    under a wrong name is read correctly. A file in no format that can be read gives a single shard
    with a `problem`.

    Args:
      shard_bytes: the length of a shard, at least 1.
      of_traces: whether the file should contain search calls rather than judgments, of which a
        text without names of columns is read line by line.
    """
    file.seek(0)
    head = file.read(_HEAD_BYTES)
    compression = compression_of(head)
    if compression is not Compression.NONE:
        head = read_beginning(file, compression, _HEAD_BYTES)[:_HEAD_BYTES]
    name, problem = recognise(path, head)
    if not of_traces and not INPUT_FORMATS[name].is_binary:
        name = CSV if is_table(head) else JSONL
    format_ = INPUT_FORMATS[name]
    if of_traces and problem is None and format_.problem is not None:
        problem = format_.problem(head)
    shard = FileShard(path, name, compression, 0, size, problem, adaptation, bounds)
    if problem is not None or compression is not Compression.NONE or not format_.is_split:
        return [shard]
    return [
        replace(shard, start=start, end=min(start + shard_bytes, size))
        for start in range(0, size, shard_bytes)
    ]


def recognise(path: str, head: bytes) -> tuple[str, str | None]:
    """The format of a file by its first (decompressed) bytes, and why it cannot be read, if so."""
    by_name = _format_by_name(path)
    if other := other_format(head):
        advice = "save it as JSON Lines or CSV in UTF-8, Avro or Parquet"
        return by_name or JSONL, f"The file is {other}; {advice}."
    for name, format_ in INPUT_FORMATS.items():
        if format_.begins(head):
            return name, None
    if by_name is None:
        problem = "The file is not JSON Lines, CSV, Avro or Parquet." if b"\0" in head else None
        return JSONL, problem
    if INPUT_FORMATS[by_name].is_binary:
        problem = f"The file is {by_name} by its name, but does not begin like it; it is damaged."
        return by_name, problem
    return by_name, None


def other_format(head: bytes) -> str | None:
    """What a file is by its first bytes, in words, if nothing here reads it; None if unknown."""
    return next((name for magic, name in _OTHER_FORMATS.items() if head.startswith(magic)), None)


def _format_by_name(path: str) -> str | None:
    name = path.lower()
    for suffix in _COMPRESSION_SUFFIXES:
        name = name.removesuffix(suffix)
    several = INPUT_FORMATS.items()
    return next(
        (format_name for format_name, format_ in several if name.endswith(format_.suffixes)), None
    )
