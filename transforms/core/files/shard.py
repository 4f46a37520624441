"""Which part of which file one worker reads, and in what format (SPEC 2)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import BinaryIO

from msgspec import Struct

from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.compression import (
    Compression,
    DamagedStreamError,
    compression_of,
    decompressed,
)
from goodgain.transforms.core.files.mistaken import mistaken
from goodgain.transforms.core.records.adaptation import Adaptation

# Small enough that a file of some ten megabytes keeps several workers busy to its end.
DEFAULT_SHARD_BYTES = 8 * 1024 * 1024
_HEAD = 4096
_COMPRESSION_SUFFIXES = (".gz", ".gzip", ".bz2", ".bzip2", ".zst", ".zstd")
_FOREIGN = {
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


class InputFile(Struct, frozen=True, order=True):
    """A file to read: its path and its size in bytes."""

    path: str
    size: int


class FileShard(Struct, frozen=True):
    """A byte range of one file; it has the records that begin in [start, end).

    What begins: a line of JSON, an Avro block by its leading sync marker, a Parquet row group by
    its first page. The shards of a file cover it, so each record is read by exactly one of them.

    Attributes:
      path: the file.
      format: what it holds.
      compression: of the file as a whole; then the one shard covers all of it.
      start: first byte.
      end: the byte after the last.
      adaptation: how its records differ from those of SPEC 2; None when they do not.
      problem: why the file cannot be read at all, one sentence; None when it can.
      bounds: what reading it may ask of memory.
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
    """The shards of one file, equal in size but for the last.

    The content decides what a file is, the name only where the content leaves it open: a file of
    another format under the right name is read as what it is. One that is none of the three
    formats gives a single shard with a `problem`.

    Args:
      file: open for reading, seekable.
      path: its name, for messages and for the formats that its content does not show.
      size: its length in bytes.
      shard_bytes: the length of a shard, at least 1.
      adaptation: how the records differ from those of SPEC 2.
      of_traces: whether the file should hold search calls, and no judgments, which may be tables.
      bounds: what reading a shard may ask of memory.
    """
    file.seek(0)
    head = file.read(_HEAD)
    compression = compression_of(head)
    if compression is not Compression.NONE:
        head = _decompressed_head(file, compression)
    found, problem = recognise(path, head)
    if of_traces and found is FileFormat.JSONL and problem is None:
        found, problem = _as_traces(head)
    whole = compression is not Compression.NONE or found is FileFormat.JSON_ARRAY
    if problem is not None or whole:
        return [FileShard(path, found, compression, 0, size, problem, adaptation, bounds)]
    return [
        FileShard(
            path,
            found,
            compression,
            start,
            min(start + shard_bytes, size),
            None,
            adaptation,
            bounds,
        )
        for start in range(0, size, shard_bytes)
    ]


def recognise(path: str, head: bytes) -> tuple[FileFormat, str | None]:
    """The format of a file by its first (decompressed) bytes, and why it cannot be read, if so."""
    if head[:4] == b"Obj\x01":
        return FileFormat.AVRO, None
    if head[:4] == b"PAR1":
        return FileFormat.PARQUET, None
    named = _format_by_name(path)
    for magic, name in _FOREIGN.items():
        if head.startswith(magic):
            advice = "save it as JSON Lines in UTF-8, Avro or Parquet"
            return named or FileFormat.JSONL, f"The file is {name}; {advice}."
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{" or named is FileFormat.JSONL:
        return FileFormat.JSONL, None
    if named is not None:
        return named, f"The file is named as {named} but does not begin as one; it is damaged."
    if b"\0" in head:
        return FileFormat.JSONL, "The file is none of JSON Lines, Avro and Parquet."
    return FileFormat.JSONL, None


def _as_traces(head: bytes) -> tuple[FileFormat, str | None]:
    """The format of a text file, and why it has no search calls, if its beginning shows that."""
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"[":
        return FileFormat.JSON_ARRAY, None
    return FileFormat.JSONL, mistaken(head)


def _format_by_name(path: str) -> FileFormat | None:
    name = path.lower()
    for suffix in _COMPRESSION_SUFFIXES:
        name = name.removesuffix(suffix)
    if name.endswith(".avro"):
        return FileFormat.AVRO
    if name.endswith((".parquet", ".pq")):
        return FileFormat.PARQUET
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return FileFormat.JSONL
    return None


def _decompressed_head(file: BinaryIO, compression: Compression) -> bytes:
    head = b""
    try:
        for piece in _at_least(_HEAD, decompressed(file, compression)):
            head += piece
    except DamagedStreamError:
        pass  # reading the shard raises it again, and reports it with its position
    return head[:_HEAD]


def _at_least(length: int, pieces: Iterable[bytes]) -> Iterable[bytes]:
    for piece in pieces:
        yield piece
        length -= len(piece)
        if length <= 0:
            return
