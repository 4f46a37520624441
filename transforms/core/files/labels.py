"""Read labels of single results: a table as CSV, JSON Lines or Parquet, a label a row.

A row has a gain and names its result: by `conversation_id`, `turn`, `iteration`, `call` and `rank`,
by `record_id` and `rank`, or by `span_id` and `position`. A row with an empty gain labels nothing.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from goodgain.transforms.core.errors import GoodGainError, UsageError
from goodgain.transforms.core.files.compression import (
    Compression,
    DamagedStreamError,
    compression_of,
    decompressed_stream,
)
from goodgain.transforms.core.files.reading import Open
from goodgain.transforms.core.judgments.result_labels import ResultLabel
from goodgain.transforms.core.records.rejected import (
    RejectedRecord,
    payload_of_bytes,
    payload_of_mapping,
)
from goodgain.transforms.core.records.search_call import GREATEST_GAIN, LARGEST_INT

GAIN = ("gain", "label", "relevance")
SPAN = ("span_id", "context.span_id")
TRACE = ("trace_id", "context.trace_id")
POSITION = ("position", "document_position")
_COLUMNS = (
    *GAIN, *SPAN, *TRACE, *POSITION,
    "conversation_id", "turn", "iteration", "call", "record_id", "rank",
)  # fmt: skip
_HEAD = 64 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DELIMITERS = (",", "\t", ";")
_ROWS_AT_ONCE = 4096
_LONGEST_SHOWN = 60
# Spreadsheets and data frames write whole numbers as 3.0.
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,12}(\.0*)?\s*")
_decode_json = msgspec.json.Decoder().decode

Found = ResultLabel | RejectedRecord | None


class LabelFormat(StrEnum):
    """The formats of a file of labels."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class LabelFile(Struct, frozen=True):
    """A file of labels.

    Attributes:
      number: which one it is, from 0.
    """

    path: str
    size: int
    number: int
    format: LabelFormat
    compression: Compression = Compression.NONE

    def position(self, row: int) -> str:
        """The place of a row in words."""
        return f"{'row' if self.format is LabelFormat.PARQUET else 'line'} {row}"


class _RowError(GoodGainError):
    """One row that gives no label; the message is a sentence."""

    def __init__(self, reason: str, field: str | None = None) -> None:
        super().__init__(reason)
        self.field = field


def recognise_labels(path: str, size: int, number: int, open_file: Open) -> LabelFile:
    """What a file of labels is, by its beginning.

    Raises:
      UsageError: it is none, or cannot be read.
    """
    try:
        with open_file(path) as file:
            compression = compression_of(file.read(_HEAD))
            file.seek(0)
            head = _plain(file, compression).read(_HEAD).removeprefix(_BYTE_ORDER_MARK)
    except (OSError, DamagedStreamError) as error:
        raise UsageError(f"The labels in {path} cannot be read: {error}.") from None
    first = head.lstrip()
    if not first:
        raise UsageError(f"The file of labels {path} is empty.")
    if head[:4] == b"PAR1":
        found = LabelFormat.PARQUET
    elif first[:1] == b"{":
        found = LabelFormat.JSONL
    elif first[:1] == b"[" or head[:2] == b"PK" or b"\0" in head:
        raise UsageError(
            f"The file of labels {path} is no CSV, JSON Lines or Parquet; save it as one of these."
        )
    else:
        found = LabelFormat.CSV
    if found is LabelFormat.PARQUET and compression is not Compression.NONE:
        raise UsageError(f"The Parquet file {path} is compressed as a whole; decompress it first.")
    return LabelFile(path, size, number, found, compression)


def read_labels(file: LabelFile, open_file: Open, iteration_base: int = 1) -> Iterator[Found]:
    """Every row of a file in order: a label, a rejected row, or None where nobody filled it in.

    Args:
      open_file: opens a path for reading bytes, seekable, without decompressing.
      iteration_base: number of the first iteration of a turn, in the labels as in the traces.
    """
    row = 0
    try:
        with open_file(file.path) as opened:
            for row, found, raw in _ROWS[file.format](opened, file):
                yield _read(file, row, found, raw, iteration_base)
    except (OSError, DamagedStreamError, csv.Error, _BrokenFileError) as error:
        reason = f"The file cannot be read from here on ({error})."
        yield RejectedRecord(file.path, file.position(row + 1), reason)


def labels_of_rows(
    rows: Iterable[Any], file: LabelFile, iteration_base: int = 1
) -> Iterator[Found]:
    """As `read_labels`, of rows that the caller holds; what is wrong names `file` as its place."""
    for number, row in enumerate(rows, start=1):
        yield _read(file, number, row, row, iteration_base)


def _read(file: LabelFile, number: int, row: Any, raw: Any, iteration_base: int) -> Found:
    try:
        return _label(file.number, number, row, iteration_base)
    except _RowError as error:
        conversation_id = row.get("conversation_id") if isinstance(row, Mapping) else None
        return RejectedRecord(
            file.path,
            file.position(number),
            str(error),
            error.field,
            conversation_id if isinstance(conversation_id, str) else None,
            payload_of_bytes(raw) if isinstance(raw, bytes) else payload_of_mapping(raw),
        )


def _label(file: int, number: int, row: Any, iteration_base: int) -> ResultLabel | None:
    """The label that a row gives; None without a gain.

    Raises:
      _RowError: it cannot be used.
    """
    if not isinstance(row, Mapping):
        raise _RowError("The row is no object with named fields.")
    given = {name: row[name] for name in _COLUMNS if not _is_blank(row.get(name))}
    gain_name = next((name for name in GAIN if name in given), None)
    if gain_name is None:
        if not any(name in row for name in GAIN):
            raise _RowError(f"The row has no gain (also read: {', '.join(GAIN[1:])}).")
        return None
    gain = _whole(given, gain_name, 0, GREATEST_GAIN)
    conversation_id = _text(given, "conversation_id")
    record_id, span = _record(given)
    places = [name for name in ("turn", "iteration", "call") if name in given]
    turn, iteration, call = 1, None, None
    if record_id is not None:
        if places:
            raise _RowError(
                f"The row names its record twice, by {'span_id' if span else 'record_id'} and by "
                f"{places[0]}; give one of them."
            )
    elif conversation_id is None or "iteration" not in given:
        raise _RowError(
            "The row names no result: give conversation_id, iteration and rank (turn and call "
            "where there are several), record_id and rank, or span_id and position."
        )
    else:
        turn = _whole(given, "turn", 1) if "turn" in given else 1
        iteration = _whole(given, "iteration", iteration_base) + 1 - iteration_base
        call = _whole(given, "call", 0) if "call" in given else None
    return ResultLabel(
        file, number, gain, _rank(given), conversation_id, turn, iteration, call, record_id, span
    )


def _record(given: Mapping[str, Any]) -> tuple[str | None, bool]:
    """The record that a row names, and whether it does so by its span alone."""
    span = next((_text(given, name) for name in SPAN if name in given), None)
    if span is None:
        return _text(given, "record_id"), False
    if "record_id" in given:
        raise _RowError("The row names its record twice, by record_id and span_id; give one.")
    trace = next((_text(given, name) for name in TRACE if name in given), None)
    return (span, True) if trace is None else (f"{trace}/{span}", False)


def _rank(given: Mapping[str, Any]) -> int:
    position = next((name for name in POSITION if name in given), None)
    if position is None:
        if "rank" not in given:
            raise _RowError("The row has neither rank (from 1) nor position (from 0).")
        return _whole(given, "rank", 1)
    if "rank" in given:
        raise _RowError(f"The row has both rank and {position}; give one of them.")
    return _whole(given, position, 0) + 1


def _is_blank(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _whole(given: Mapping[str, Any], name: str, least: int, most: int = LARGEST_INT) -> int:
    value = given[name]
    number = None
    if isinstance(value, str):
        value = float(value) if _WHOLE.fullmatch(value) else None
    if isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0:
        number = int(value) if value == int(value) else None
    if number is None or not least <= number <= most:
        bound = f"{least} to {most}" if most < LARGEST_INT else f"{least} on"
        raise _RowError(
            f"{name} must be a whole number from {bound}, got {_shown(given[name])}.", name
        )
    return number


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise _RowError(f"{name} must be text, got {_shown(value)}.", name)
    return value


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, default=repr)
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"


class _BrokenFileError(GoodGainError):
    """A Parquet file that breaks off."""


_Rows = Iterator[tuple[int, Any, Any]]  # number, the row, and how it is written


def _plain(file: BinaryIO, compression: Compression) -> BinaryIO:
    return file if compression is Compression.NONE else decompressed_stream(file, compression)


def _csv_rows(opened: BinaryIO, file: LabelFile) -> _Rows:
    # Bytes that are not UTF-8 stay visible in what is rejected for them.
    text = io.TextIOWrapper(
        _plain(opened, file.compression), "utf-8-sig", errors="backslashreplace", newline=""
    )
    header = text.readline()
    delimiter = max(_DELIMITERS, key=header.count)
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    reader = csv.reader(text, delimiter=delimiter)
    line = 2
    for values in reader:
        if values:
            row = dict(zip(names, values, strict=False))
            yield line, row, row
        line = reader.line_num + 2


def _json_rows(opened: BinaryIO, file: LabelFile) -> _Rows:
    for number, line in enumerate(_plain(opened, file.compression), start=1):
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line.strip():
            continue
        try:
            row = _decode_json(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            row = None
        yield number, row, line


def _parquet_rows(opened: BinaryIO, _: LabelFile) -> _Rows:
    import pyarrow  # takes half a second
    import pyarrow.parquet as pq

    number = 0
    try:
        parquet = pq.ParquetFile(opened)
        columns = [name for name in parquet.schema_arrow.names if name in _COLUMNS]
        for batch in parquet.iter_batches(_ROWS_AT_ONCE, columns=columns, use_threads=False):
            for row in batch.to_pylist():
                number += 1
                yield number, row, row
    except (pyarrow.ArrowException, ValueError) as error:
        raise _BrokenFileError(str(error).splitlines()[0]) from None


_ROWS = {
    LabelFormat.CSV: _csv_rows,
    LabelFormat.JSONL: _json_rows,
    LabelFormat.PARQUET: _parquet_rows,
}
