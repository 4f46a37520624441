"""Shards: the parts of files that workers read, with their formats (SPEC 2)."""

from __future__ import annotations

from enum import StrEnum
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.compression import Compression, beginning, compression_of
from goodgain.transforms.core.records.adaptation import Adaptation

# Small enough that several workers can share a file of tens of megabytes.
DEFAULT_SHARD_BYTES = 8 * 1024 * 1024
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


class FileFormat(StrEnum):
    """The formats of a trace file."""

    JSONL = "jsonl"
    JSON_ARRAY = "json array"
    AVRO = "avro"
    PARQUET = "parquet"


_SUFFIXES = {
    FileFormat.AVRO: (".avro",),
    FileFormat.PARQUET: (".parquet", ".pq"),
    FileFormat.JSONL: (".jsonl", ".ndjson", ".json"),
}


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
      format: format of the file.
      compression: compression of the whole file, which is then a single shard.
      start: first byte.
      end: the byte after the last.
      adaptation: how to convert records to trace records; None if they need no conversion.
      problem: why the file cannot be read at all, in one sentence; None if it can.
      bounds: limits on the memory that reading may take.

    Example: see `FindShards`.
    """

    path: str
    format: FileFormat
    compression: Compression
    start: int
    end: int
    problem: str | None = None
    adaptation: Adaptation | None = None
    bounds: ReadBounds = DEFAULT_BOUNDS


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
      of_traces: whether the file should contain search calls rather than judgments, which may be
        tables.
    """
    file.seek(0)
    head = file.read(_HEAD_BYTES)
    compression = compression_of(head)
    if compression is not Compression.NONE:
        head = beginning(file, compression, _HEAD_BYTES)[:_HEAD_BYTES]
    file_format, problem = recognise(path, head)
    if of_traces and file_format is FileFormat.JSONL and problem is None:
        if _first_character(head) == b"[":
            file_format = FileFormat.JSON_ARRAY
        else:
            problem = why_not_jsonl(head)
    whole = compression is not Compression.NONE or file_format is FileFormat.JSON_ARRAY
    shard = FileShard(path, file_format, compression, 0, size, problem, adaptation, bounds)
    if problem is not None or whole:
        return [shard]
    return [
        replace(shard, start=start, end=min(start + shard_bytes, size))
        for start in range(0, size, shard_bytes)
    ]


def recognise(path: str, head: bytes) -> tuple[FileFormat, str | None]:
    """The format of a file by its first (decompressed) bytes, and why it cannot be read, if so."""
    if head[:4] == b"Obj\x01":
        return FileFormat.AVRO, None
    if head[:4] == b"PAR1":
        return FileFormat.PARQUET, None
    format_by_name = _format_by_name(path)
    for magic, name in _OTHER_FORMATS.items():
        if head.startswith(magic):
            advice = "save it as JSON Lines in UTF-8, Avro or Parquet"
            return format_by_name or FileFormat.JSONL, f"The file is {name}; {advice}."
    if _first_character(head) == b"{" or format_by_name is FileFormat.JSONL:
        return FileFormat.JSONL, None
    if format_by_name is not None:
        return (
            format_by_name,
            f"The file is {format_by_name} by its name, but does not begin like it; it is damaged.",
        )
    if b"\0" in head:
        return FileFormat.JSONL, "The file is not JSON Lines, Avro or Parquet."
    return FileFormat.JSONL, None


def _first_character(head: bytes) -> bytes:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]


def _format_by_name(path: str) -> FileFormat | None:
    name = path.lower()
    for suffix in _COMPRESSION_SUFFIXES:
        name = name.removesuffix(suffix)
    return next((one for one, suffixes in _SUFFIXES.items() if name.endswith(suffixes)), None)


_DELIMITERS = ",\t;|"
_ENOUGH_COLUMNS = 2
_TO_LINES = "write one JSON object per line, with the fields conversation_id, iteration, results"


def why_not_jsonl(head: bytes) -> str | None:
    """Why text is not JSON Lines, in one sentence, if its beginning shows that; else None.

    Args:
      head: the first bytes of the file, decompressed.
    """
    lines = [line.strip() for line in head.removeprefix(b"\xef\xbb\xbf").splitlines()[:3]]
    lines = [line for line in lines if line]
    if not lines:
        return None
    if lines[0] == b"{" and lines[1:2] and lines[1].startswith(b'"'):
        return (
            "The file is one JSON document that spans several lines; write one record per "
            "line instead (jq -c . does)."
        )
    if _is_table(lines):
        return (
            f"The file is a table of columns (CSV); {_TO_LINES}, as `goodgain convert --from "
            "table` does."
        )
    return None


def _is_table(lines: list[bytes]) -> bool:
    """Whether two lines have the same number of columns, and the first one has names."""
    if len(lines) < 2 or lines[0][:1] in b"{[" or lines[1][:1] in b"{[":
        return False
    for delimiter in _DELIMITERS:
        names = lines[0].decode("utf-8", "replace").split(delimiter)
        values = lines[1].count(delimiter.encode()) + 1
        plain = [name.strip().strip('"').replace("_", "").replace(".", "") for name in names]
        if len(names) >= _ENOUGH_COLUMNS and values >= len(names):
            return all(name and not name[0].isdigit() and name.isalnum() for name in plain)
    return False
