"""Writes trace records to one file, in the format of its suffix (SPEC 2)."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Iterable
from typing import Any, BinaryIO, cast

import fastavro
import msgspec
import zstandard

from goodgain.pipeline.outputs.whole_files import replacing
from goodgain.pipeline.sample.writers import resolve_format, trace_schema
from goodgain.transforms.core.errors import UsageError

Records = Iterable[dict[str, Any]]


def write_traces(records: Records, path: str) -> None:
    """Write a local file completely or not at all; an existing file is replaced.

    Args:
      records: with the field names of SPEC 2; missing fields get their defaults.
      path: ends in .avro, .parquet or .jsonl, the last optionally with .gz, .bz2 or .zst.

    Raises:
      UsageError: the format is unknown, or the file cannot be written.
    """
    try:
        format, codec = resolve_format(path, None, None)
    except UsageError:
        raise UsageError(
            f"The format of {path} is unknown: end it in .avro, .parquet or .jsonl, the last "
            "optionally with .gz, .bz2 or .zst."
        ) from None
    try:
        with replacing(path) as file:
            if format == "avro":
                fastavro.writer(file, fastavro.parse_schema(trace_schema()), records, codec=codec)
            elif format == "parquet":
                from goodgain.pipeline.sample.parquet import (
                    write_parquet,  # pyarrow is slow to import
                )

                write_parquet(records, file, codec)
            else:
                _write_lines(records, file, codec)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from None


def _write_lines(records: Records, file: BinaryIO, codec: str) -> None:
    encode = msgspec.json.Encoder().encode
    stream = _packed(file, codec)
    for record in records:
        stream.write(encode(record) + b"\n")
    if stream is not file:
        stream.close()


def _packed(file: BinaryIO, codec: str) -> BinaryIO:
    if codec == "gzip":
        return cast(BinaryIO, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0))
    if codec == "bzip2":
        return cast(BinaryIO, bz2.BZ2File(file, "wb"))
    if codec == "zstandard":
        return cast(BinaryIO, zstandard.ZstdCompressor().stream_writer(file, closefd=False))
    return file
