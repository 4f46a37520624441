"""Writes trace records to one file, in the format of its suffix (SPEC 2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import fastavro
import msgspec

from goodgain.pipeline.results.atomic_files import replacing, writing
from goodgain.pipeline.sample.writers import format_of, packed, trace_schema

# Attributes of imported records that say where they come from.
TRACE_ID, ROOT_SPAN_ID, SESSION_ID = "trace_id", "root_span_id", "session_id"

Records = Iterable[dict[str, Any]]


def write_traces(records: Records, path: str) -> None:
    """Write a local file completely or not at all; an existing file is replaced.

    Args:
      records: with the field names of SPEC 2; missing fields get their defaults.
      path: ends in .avro, .parquet or .jsonl, the last optionally with .gz, .bz2 or .zst.

    Raises:
      UsageError: the format is unknown, or the file cannot be written.
    """
    format, codec = format_of(path)
    with writing(path), replacing(path) as file:
        if format == "avro":
            fastavro.writer(file, fastavro.parse_schema(trace_schema()), records, codec=codec)
        elif format == "parquet":
            # pyarrow is slow to import.
            from goodgain.pipeline.sample.parquet import write_parquet

            write_parquet(records, file, codec)
        else:
            encode = msgspec.json.Encoder().encode
            with packed(file, codec) as stream:
                for record in records:
                    stream.write(encode(record) + b"\n")
