"""Writes samples to Avro, JSON Lines and Parquet files."""

from __future__ import annotations

import bz2
import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO, cast

import fastavro
import zstandard

from goodgain.pipeline.results.atomic_files import replacing, writing
from goodgain.pipeline.sample.conversations import sample_records
from goodgain.pipeline.sample.draw import Draw
from goodgain.pipeline.sample.scene import iso
from goodgain.pipeline.settings.sample_config import SampleConfig
from goodgain.transforms.core.errors import UsageError

# By suffix: the format, and its codec.
_FORMATS = {
    ".avro": ("avro", "deflate"),
    ".parquet": ("parquet", "snappy"),
    ".jsonl": ("jsonl", "none"),
    ".jsonl.gz": ("jsonl", "gzip"),
    ".jsonl.bz2": ("jsonl", "bzip2"),
    ".jsonl.zst": ("jsonl", "zstandard"),
}
_SYNC_MARKER = b"goodgain sample\n"
_BLOCK_BYTES = 64_000


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


def trace_schema() -> dict[str, Any]:
    """The Avro schema of the trace record (SPEC 2)."""
    text = files("goodgain.configs").joinpath("schemas/trace.avsc").read_text(encoding="utf-8")
    return cast(dict[str, Any], json.loads(text))


def write_sample(options: SampleConfig, path: str) -> Written:
    """Write a sample to a local file, completely or not at all; an existing file is replaced.

    Missing folders are created. Avro and JSON Lines files are byte-identical for the same version
    of zlib; Parquet files also contain the version of pyarrow.

    Raises:
      UsageError: the suffix of the path is not that of a format, or it cannot be written.
    """
    format, codec = format_of(path)
    written = Written()
    with writing(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            _WRITERS[format](options, file, codec, written)
        written.size = os.path.getsize(path)
    return written


def format_of(path: str) -> tuple[str, str]:
    """The format and codec that the suffix of a path names.

    Raises:
      UsageError: it names none.
    """
    for suffix, found in _FORMATS.items():
        if path.endswith(suffix):
            return found
    raise UsageError(
        f"The format of {path} is unknown: end it in .avro, .parquet or .jsonl, the last "
        "optionally with .gz, .bz2 or .zst."
    )


def _write_avro(options: SampleConfig, file: BinaryIO, codec: str, written: Written) -> None:
    fastavro.writer(
        file,
        _ordered(fastavro.parse_schema(trace_schema())),
        written.count(sample_records(options)),
        codec=codec,
        sync_interval=_BLOCK_BYTES,
        sync_marker=_SYNC_MARKER,
    )


def _ordered(parsed: Any) -> Any:
    """A parsed schema with sorted keys: fastavro's own order changes from process to process."""
    if isinstance(parsed, dict):
        return {key: _ordered(parsed[key]) for key in sorted(parsed)}
    if isinstance(parsed, list):
        return [_ordered(part) for part in parsed]
    return parsed


def _write_jsonl(options: SampleConfig, file: BinaryIO, codec: str, written: Written) -> None:
    # A separate random source, so that records are the same as in formats without broken lines.
    draw = Draw(f"{options.seed}/broken lines")
    with packed(file, codec) as stream:
        for record in written.count(sample_records(options)):
            written_record = {**record, "timestamp": iso(record["timestamp"])}
            # NaN and Infinity are written as by Python's json, as real producers do.
            text = json.dumps(written_record, ensure_ascii=False, separators=(",", ":"))
            line = text.encode()
            if draw.chance(options.bad_share):
                written.broken_lines += 1
                stream.write(_broken(draw, line) + b"\n")
            stream.write(line + b"\n")


def _broken(draw: Draw, line: bytes) -> bytes:
    """A line as a crashed producer leaves it: truncated, or with bytes that are not UTF-8."""
    if draw.chance(0.5):
        return line[: len(line) // 2]
    position = draw.between(len(line) // 3, len(line) // 2)
    return line[:position] + b"\xff\xfe" + line[position:]


@contextmanager
def packed(file: BinaryIO, codec: str) -> Iterator[BinaryIO]:
    """A stream that writes to the file in a codec of JSON Lines; only the stream is closed."""
    if codec == "gzip":
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as stream:
            yield cast(BinaryIO, stream)
    elif codec == "bzip2":
        with bz2.BZ2File(file, "wb") as stream:
            yield cast(BinaryIO, stream)
    elif codec == "zstandard":
        with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as stream:
            yield cast(BinaryIO, stream)
    else:
        yield file


def _write_parquet(options: SampleConfig, file: BinaryIO, codec: str, written: Written) -> None:
    # Imported here: pyarrow is slow to import, and only this format needs it.
    from goodgain.pipeline.sample.parquet import write_parquet

    write_parquet(written.count(sample_records(options)), file, codec)


_WRITERS: dict[str, Callable[[SampleConfig, BinaryIO, str, Written], None]] = {
    "avro": _write_avro,
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
}
