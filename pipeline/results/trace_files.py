"""Writes trace records to one file, in the format of its suffix (SPEC 2)."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib.resources import files
from typing import Any, BinaryIO, cast

import fastavro
import msgspec
import zstandard
from msgspec import Struct

from goodgain.pipeline.results.atomic_files import replace_named
from goodgain.pipeline.results.suffixes import format_of

_SYNC_MARKER = b"goodgain sample\n"
_BLOCK_BYTES = 64_000

Records = Iterable[dict[str, Any]]


class TraceFormat(Struct, frozen=True):
    """A format of trace files.

    Attributes:
      write: writes records to a file that stays open, in the codec.
    """

    name: str
    codec: str
    write: Callable[[Records, BinaryIO, str], None]


def write_traces(records: Records, path: str) -> None:
    """Write a local file completely or not at all; an existing file is replaced.

    Avro and JSON Lines files are byte-identical for the same version of zlib; Parquet files also
    contain the version of pyarrow.

    Args:
      records: with the field names of SPEC 2; missing fields get their defaults.
      path: ends in .avro, .parquet or .jsonl, the last optionally with .gz, .bz2 or .zst.

    Raises:
      UsageError: the format is unknown, or the file cannot be written.
    """
    format = format_of(path, TRACE_FORMATS)
    with replace_named(path) as file:
        format.write(records, file, format.codec)


def trace_schema() -> dict[str, Any]:
    """The Avro schema of the trace record (SPEC 2)."""
    text = files("goodgain.configs").joinpath("schemas/trace.avsc").read_text(encoding="utf-8")
    return cast(dict[str, Any], json.loads(text))


def _write_avro(records: Records, file: BinaryIO, codec: str) -> None:
    fastavro.writer(
        file,
        _sort_keys(fastavro.parse_schema(trace_schema())),
        records,
        codec=codec,
        sync_interval=_BLOCK_BYTES,
        sync_marker=_SYNC_MARKER,
    )


def _sort_keys(parsed: Any) -> Any:
    """A parsed schema with sorted keys: fastavro's own order changes from process to process."""
    if isinstance(parsed, dict):
        return {key: _sort_keys(parsed[key]) for key in sorted(parsed)}
    if isinstance(parsed, list):
        return [_sort_keys(part) for part in parsed]
    return parsed


def _write_jsonl(records: Records, file: BinaryIO, codec: str) -> None:
    encode = msgspec.json.Encoder().encode
    write_lines((encode(record) for record in records), file, codec)


def write_lines(lines: Iterable[bytes], file: BinaryIO, codec: str) -> None:
    """Write lines in a codec of JSON Lines to a file, which stays open."""
    with _open_codec(file, codec) as stream:
        for line in lines:
            stream.write(line + b"\n")


def _open_codec(file: BinaryIO, codec: str) -> AbstractContextManager[BinaryIO]:
    """A stream that writes to the file in a codec; only the stream is closed."""
    if codec == "gzip":
        return cast(
            AbstractContextManager[BinaryIO],
            gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0),
        )
    if codec == "bzip2":
        return cast(AbstractContextManager[BinaryIO], bz2.BZ2File(file, "wb"))
    if codec == "zstandard":
        return cast(
            AbstractContextManager[BinaryIO],
            zstandard.ZstdCompressor().stream_writer(file, closefd=False),
        )
    return nullcontext(file)


def _write_parquet(records: Records, file: BinaryIO, codec: str) -> None:
    # Imported here: pyarrow is slow to import, and only this format needs it.
    from goodgain.pipeline.results.trace_parquet import write_parquet

    write_parquet(records, file, codec)


# By suffix; all formats of traces that can be written.
TRACE_FORMATS: Mapping[str, TraceFormat] = {
    ".avro": TraceFormat("avro", "deflate", _write_avro),
    ".parquet": TraceFormat("parquet", "snappy", _write_parquet),
    ".jsonl": TraceFormat("jsonl", "none", _write_jsonl),
    ".jsonl.gz": TraceFormat("jsonl", "gzip", _write_jsonl),
    ".jsonl.bz2": TraceFormat("jsonl", "bzip2", _write_jsonl),
    ".jsonl.zst": TraceFormat("jsonl", "zstandard", _write_jsonl),
}
