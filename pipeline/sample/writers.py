"""Writes samples to Avro, JSON Lines and Parquet files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goodgain.pipeline.results.atomic_files import replace_named, report_unwritable
from goodgain.pipeline.results.suffixes import format_of
from goodgain.pipeline.results.trace_files import TRACE_FORMATS, write_lines
from goodgain.pipeline.sample.conversations import sample_records
from goodgain.pipeline.sample.draw import Draw
from goodgain.pipeline.sample.scene import iso
from goodgain.pipeline.settings.sample_config import SampleConfig


@dataclass
class Written:
    """The contents of a file, counted while it is written.

    Attributes:
      records: trace records, bad ones included.
      broken_lines: additional lines of a JSON Lines file that are not JSON or not UTF-8.
    """

    records: int = 0
    results: int = 0
    broken_lines: int = 0
    size: int = 0

    def count(self, records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The same records, counted as they pass."""
        for record in records:
            self.records += 1
            self.results += len(record["results"])
            yield record


def write_sample(options: SampleConfig, path: str) -> Written:
    """Write a sample to a local file like `write_traces`; missing folders are created.

    JSON Lines files also have lines that are broken.

    Raises:
      UsageError: the suffix of the path is not that of a format, or it cannot be written.
    """
    format = format_of(path, TRACE_FORMATS)
    written = Written()
    records = written.count(sample_records(options))
    with report_unwritable(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replace_named(path) as file:
        if format.name == "jsonl":
            write_lines(_lines(records, options, written), file, format.codec)
        else:
            format.write(records, file, format.codec)
    written.size = os.path.getsize(path)
    return written


def _lines(
    records: Iterable[dict[str, Any]], options: SampleConfig, written: Written
) -> Iterator[bytes]:
    # A separate random source, so that records are the same as in formats without broken lines.
    draw = Draw(f"{options.seed}/broken lines")
    for record in records:
        written_record = {**record, "timestamp": iso(record["timestamp"])}
        # NaN and Infinity are written as by Python's json, as real producers do.
        text = json.dumps(written_record, ensure_ascii=False, separators=(",", ":"))
        line = text.encode()
        if draw.chance(options.bad_share):
            written.broken_lines += 1
            yield _break(draw, line)
        yield line


def _break(draw: Draw, line: bytes) -> bytes:
    """A line as a crashed producer leaves it: truncated, or with bytes that are not UTF-8."""
    if draw.chance(0.5):
        return line[: len(line) // 2]
    position = draw.between(len(line) // 3, len(line) // 2)
    return line[:position] + b"\xff\xfe" + line[position:]
