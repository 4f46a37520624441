"""The raw records of a file in any of the supported formats, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, cast

import ijson
import msgspec

from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.convert.importing.formats.format import Format
from goodgain.pipeline.convert.importing.parquet_rows import parquet_rows
from goodgain.pipeline.inputs.progress import open_counted
from goodgain.transforms.core.errors import UsageError, problem_of
from goodgain.transforms.core.files.avro_header import MAGIC as AVRO_MAGIC
from goodgain.transforms.core.files.compression import (
    Compression,
    DamagedStreamError,
    compression_of,
    open_decompressed,
)
from goodgain.transforms.core.files.csv_table import csv_rows
from goodgain.transforms.core.files.shard_plan import other_format
from goodgain.transforms.core.files.table_row import BrokenTableError

_HEAD = 16
_LONGEST_LINE = 64 * 2**20  # a longer one is a document, which is read piece by piece
_LONG_LINE = 2**20  # one that is not decoded, or held, only to recognise what it is
_LINES_AHEAD = 3
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PARQUET = b"PAR1"
_NOT_JSON = "text that is not JSON"
_BROKEN_OFF = "a file that is damaged or truncated; read up to there"
_NOT_DECODABLE = (msgspec.DecodeError, UnicodeError, RecursionError)
_decode = msgspec.json.decode

PositionedRecord = tuple[str, Any]


def read_raw_records(
    path: str,
    envelope: Sequence[str],
    format: Format,
    counts: ImportCounts,
) -> Iterator[PositionedRecord]:
    """The records of a local file, each with its position in words, like `f.jsonl: line 3`.

    The file is JSON Lines, one JSON document (a list, or an object that may hold a list of the
    records), Parquet or CSV; JSON Lines and CSV also compressed with gzip, bzip2 or zstandard.

    Args:
      envelope: keys of a JSON document, one of which may hold its records.
      format: may read a JSON document that is an object, instead of using `envelope`; says whether
        CSV is allowed, and whether a list is one record.

    Raises:
      UsageError: the file cannot be opened, or its format is unknown or another one.
    """
    try:
        with _open(path) as file:
            first = _first_line(file)
        other = other_format(first)
        if other is not None and not _goes_on_in_lines(path, first):
            texts = "JSON or CSV" if format.rows else "JSON"
            raise UsageError(f"{path} is {other}; save it as {texts} in UTF-8, or as Parquet.")
        if first[:4] == _PARQUET:
            yield from _number_records(path, "row", parquet_rows(path))
        elif first[:1] in (b"{", b"["):
            if _stands_alone(first) or _goes_on_in_lines(path, first):
                yield from _lines(path, envelope, format, counts)
            else:
                records = _document(path, first, envelope, format)
                yield from _number_records(path, "record", records)
        elif first and _goes_on_in_lines(path, first):
            yield from _lines(path, envelope, format, counts)
        elif first.startswith(AVRO_MAGIC):
            raise UsageError(
                f"{path} is an Avro file, which convert does not import; if it holds traces, "
                "`goodgain run` reads it as it is."
            )
        elif first:
            if not format.rows or b"\0" in first:
                raise UsageError(f"{path} is neither JSON nor {'CSV nor ' * format.rows}Parquet.")
            yield from _csv_rows(path, counts)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {problem_of(error)}.") from None
    except (DamagedStreamError, ijson.JSONError):
        counts.skip(_BROKEN_OFF, path)


def _number_records(path: str, what: str, records: Iterator[Any]) -> Iterator[PositionedRecord]:
    for number, record in enumerate(records, 1):
        yield f"{path}: {what} {number}", record


def _is_json(text: bytes) -> bool:
    try:
        _decode(text)
    except _NOT_DECODABLE:
        return False
    return True


def _stands_alone(line: bytes) -> bool:
    return len(line) < _LONG_LINE and _is_json(line)


def _goes_on_in_lines(path: str, first: bytes) -> bool:
    """Whether an object stands alone in a line behind the first, which may be odd or torn."""
    is_long = len(first) >= _LONG_LINE
    if first in (b"[", b"{") or (is_long and first[:1] == b"["):
        return False
    with _open(path) as file:
        if _skip_line(file) > _LONGEST_LINE:
            return False
        for _ in range(_LINES_AHEAD):
            line = file.readline(_LONG_LINE)
            stripped = line.strip()
            if stripped[:1] == b"{" and (len(line) == _LONG_LINE or _stands_alone(stripped)):
                return True
            if len(line) == _LONG_LINE:
                _skip_line(file)
    return False


def _skip_line(file: BinaryIO) -> int:
    """Read over the rest of a line; its length."""
    length = 0
    while piece := file.readline(_LONG_LINE):
        length += len(piece)
        if piece.endswith(b"\n"):
            break
    return length


def _lines(
    path: str, envelope: Sequence[str], format: Format, counts: ImportCounts
) -> Iterator[PositionedRecord]:
    with _open(path) as file:
        for number, line in enumerate(file, 1):
            line = line.removeprefix(_BYTE_ORDER_MARK).strip()
            if not line:
                continue
            position = f"{path}: line {number}"
            try:
                record = _decode(line)
            except _NOT_DECODABLE:
                counts.skip(_NOT_JSON, position)
                continue
            for inner in _unwrap(record, envelope, format):
                yield position, inner


def _unwrap(record: Any, envelope: Sequence[str], format: Format) -> Sequence[Any]:
    """The records in a line: those of a list, those in an envelope, or the line itself."""
    if isinstance(record, dict):
        for key in envelope:
            inner = record.get(key)
            if inner and isinstance(inner, list) and isinstance(inner[0], dict):
                return (record,) if _is_part(inner[0], format) else inner
    if not isinstance(record, list) or (record and _is_part(record[0], format)):
        return (record,)
    return record


def _is_part(record: Any, format: Format) -> bool:
    return format.is_part is not None and format.is_part(record)


def _document(path: str, first: bytes, envelope: Sequence[str], format: Format) -> Iterator[Any]:
    prefix = "item" if first[:1] == b"[" else None
    if prefix is None and format.read_document is not None:
        with _open(path) as file:
            records = format.read_document(file)
            if records is not None:
                yield from records
                return
    if prefix is None and envelope:
        with _open(path) as file:
            prefix = next(
                (
                    f"{path_in_document}.item"
                    for path_in_document, event, _ in ijson.parse(
                        file, use_float=True, multiple_values=True
                    )
                    if event == "start_array" and path_in_document in envelope
                ),
                None,
            )
    if prefix is not None and format.is_part is not None:
        with _open(path) as file:
            if _is_part(next(ijson.items(file, prefix, use_float=True), None), format):
                file.seek(0)
                yield next(ijson.items(file, "", use_float=True))
                return
    with _open(path) as file:
        if prefix is None:
            yield from ijson.items(file, "", use_float=True, multiple_values=True)
        else:
            yield from ijson.items(file, prefix, use_float=True)


def _csv_rows(path: str, counts: ImportCounts) -> Iterator[PositionedRecord]:
    try:
        with _open(path) as file:
            for row in csv_rows(file):
                position = f"{path}: line {row.number}"
                if row.problem is not None:
                    counts.skip(f"a row with {row.problem}", position)
                    continue
                yield (
                    position,
                    {name: value for name, value in row.values.items() if name and value},
                )
    except BrokenTableError as error:
        raise UsageError(f"{path} cannot be read as CSV: {error}.") from None


def _first_line(file: BinaryIO) -> bytes:
    """The first non-blank line, stripped, or the beginning of a long one."""
    for _ in range(1_000):
        raw = file.readline(_LONG_LINE)
        line = raw.removeprefix(_BYTE_ORDER_MARK).strip()
        if line or not raw:
            return line
    return b""


def _open(path: str) -> BinaryIO:
    """The content of a file, decompressed, from its beginning and without a byte order mark."""
    file = open_counted(path)  # closed with the returned file
    compression = compression_of(file.read(_HEAD))
    file.seek(0)
    stream: Any = file
    if compression is not Compression.NONE:
        stream = open_decompressed(file, compression)
    if stream.peek(len(_BYTE_ORDER_MARK)).startswith(_BYTE_ORDER_MARK):
        stream.read(len(_BYTE_ORDER_MARK))
    return cast(BinaryIO, stream)
