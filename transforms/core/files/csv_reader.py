"""Reads search calls from CSV: a row for each result, or for each search call (SPEC 2).

Rows are read as those of a data frame: the header names the columns, and an empty cell is missing.
"""

from __future__ import annotations

import ast
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from math import ceil
from types import UnionType
from typing import Any, BinaryIO, get_args, get_type_hints

import msgspec
from msgspec import Struct

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.files.bounds import check_bounds
from goodgain.transforms.core.files.compression import (
    Compression,
    DamagedStreamError,
    open_content,
)
from goodgain.transforms.core.files.csv_table import DELIMITERS, csv_rows
from goodgain.transforms.core.files.record_packer import RecordPacker
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.files.spool import Spool
from goodgain.transforms.core.files.table_row import BrokenTableError, TableRow
from goodgain.transforms.core.records.long_form import (
    CALL_MAPS,
    RESULTS,
    is_column,
    is_long,
    key_of_row,
    order_rows,
    record_of_rows,
    split_by_query,
    with_maps,
)
from goodgain.transforms.core.records.parsing import parse_escaped_mapping
from goodgain.transforms.core.records.rejection import (
    WHOLE_FILE,
    RejectedRecord,
    payload_of_mapping,
    reject_record,
)
from goodgain.transforms.core.records.renames import RANK
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.remedy import Remedy

_ENOUGH_COLUMNS = 2
_NUMBERS = frozenset(
    ("turn", "iteration", "call", "turn_count", "timestamp", "is_final", "gain", "score", RANK)
)
# What tables write for a missing number; in a text it may be a word.
_MISSING = frozenset(("nan", "na", "n/a", "<na>", "null", "none"))
_NESTED = ("[", "{")
_LONGEST_PRINTED = 1_000_000
_NEEDED = ("conversation_id", "iteration")
_BYTES_PER_PART = 8 * 2**20
_MOST_PARTS = 64
_UNPACKED = 8  # a compressed table is about this many times as large
_OF_RESULT = re.compile(r"results\[(\d+)\]")


def _texts(record: type) -> Iterator[str]:
    """The fields that hold one text."""
    for name, hint in get_type_hints(record).items():
        if hint is str or (isinstance(hint, UnionType) and str in get_args(hint)):
            yield name


_TEXTS = frozenset((*_texts(SearchCall), *_texts(Result)))
_OF_CALL = tuple(f"{name}." for name in CALL_MAPS)


class _Line(Struct, array_like=True):
    """A row with the number of its first line."""

    number: int
    row: dict[str, Any]


Outcomes = Iterator[SearchCall | RejectedRecord]


def begins_like_csv(head: bytes) -> bool:
    """Whether a text begins with two lines of as many columns, the first of which has names."""
    lines = [line.strip() for line in head.removeprefix(BOM_UTF8).splitlines()[:3]]
    lines = [line for line in lines if line]
    if len(lines) < 2 or lines[0][:1] in b"{[" or lines[1][:1] in b"{[":
        return False
    for delimiter in DELIMITERS:
        names = lines[0].decode("utf-8", "replace").split(delimiter)
        values = lines[1].count(delimiter.encode()) + 1
        plain = [name.strip().strip('"').replace("_", "").replace(".", "") for name in names]
        plain = plain if plain[0] else plain[1:]  # the index of a data frame has no name
        if len(plain) >= _ENOUGH_COLUMNS and values >= len(names):
            return all(name and not name[0].isdigit() and name.isalnum() for name in plain)
    return False


def read_csv(file: BinaryIO, shard: FileShard, _: RecordPacker | None) -> Outcomes:
    """The records of a whole file (see `read_shard_into`).

    The rows of a search call need not stand together: they are gathered in temporary files.
    """
    size = (shard.end - shard.start) * (1 if shard.compression is Compression.NONE else _UNPACKED)
    parts = min(_MOST_PARTS, max(1, ceil(size / _BYTES_PER_PART)))
    with Spool(parts, _Line) as spool:
        is_table_of_results: bool | None = None
        for line in _lines(file, shard):
            if isinstance(line, RejectedRecord):
                yield line
                continue
            if is_table_of_results is None:
                is_table_of_results = is_long(line.row)
                if not any(name in line.row for name in _NEEDED):
                    yield _reject_without_columns(line.row, shard)
                    return
            if not is_table_of_results:
                yield _call([line], with_maps(line.row), shard)
            elif not _is_added(spool, line):
                yield from _calls([line], shard)
        for _key, lines in spool.groups():
            yield from _calls(lines, shard)


def first_rows(file: BinaryIO, shard: FileShard) -> Iterator[dict[str, Any]]:
    """The rows of a file, before its fields are renamed; it ends where the file is damaged."""
    for row in _rows(file, shard):
        if isinstance(row, TableRow):
            yield _values(row)


def _reject_without_columns(row: dict[str, Any], shard: FileShard) -> RejectedRecord:
    reason = (
        f"The table has neither conversation_id nor iteration, but {', '.join(row)}. If they have "
        "other names, "
        + Remedy("map")
        + " names them; what the columns probably mean is among the warnings."
    )
    return RejectedRecord(shard.path, WHOLE_FILE, reason, at_least=True)


def _is_added(spool: Spool[_Line], line: _Line) -> bool:
    """Add a row to those of its call; False if it cannot be used, and so is a call by itself."""
    if any(line.row.get(name) is None for name in _NEEDED):
        return False
    known = {name: value for name, value in line.row.items() if is_column(name)}
    try:
        spool.add(repr(key_of_row(known)), _Line(line.number, known))
    except UnicodeEncodeError:
        return False
    return True


def _lines(file: BinaryIO, shard: FileShard) -> Iterator[_Line | RejectedRecord]:
    for row in _rows(file, shard):
        if isinstance(row, RejectedRecord):
            yield row
            continue
        values = _values(row)
        if shard.adaptation is not None:
            renamed = shard.adaptation.apply_to_row(values)
            values = shard.adaptation.apply(values) if RESULTS in renamed else renamed
        if row.problem is None:
            yield _Line(row.number, values)
        else:
            error = RecordError(f"The row has {row.problem}.", None, values.get(_NEEDED[0]))
            yield _reject(error, row.number, values, shard)


def _rows(file: BinaryIO, shard: FileShard) -> Iterator[TableRow | RejectedRecord]:
    try:
        file.seek(0)
        content = open_content(file, shard.compression)
        # Bytes that are not UTF-8 become lone surrogates, which are rejected.
        yield from csv_rows(content, is_complete=True, errors="surrogateescape")
    except (BrokenTableError, DamagedStreamError) as error:
        reason = f"The table cannot be read to its end: {error}."
        yield RejectedRecord(shard.path, WHOLE_FILE, reason, at_least=True)


def _values(row: TableRow) -> dict[str, Any]:
    """The cells of a row with what stands in them; None where there is nothing."""
    return {name: _value(name, cell) for name, cell in row.values.items() if name}


def _value(name: str, cell: str) -> Any:
    if not cell or (name in _NUMBERS and cell.strip().lower() in _MISSING):
        return None
    if name in _TEXTS or name.startswith(_OF_CALL) or not cell.lstrip().startswith(_NESTED):
        return cell
    nested = _parse_nested(cell)
    return nested if isinstance(nested, dict | list) else cell


def _parse_nested(cell: str) -> Any:
    """The value that a cell writes as JSON, or as Python prints it; None if it is a text."""
    try:
        return msgspec.json.decode(cell)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    if len(cell) > _LONGEST_PRINTED:
        return None
    try:
        return ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _calls(lines: list[_Line], shard: FileShard) -> Outcomes:
    """The calls of rows with one key."""
    line_of = {id(line.row): line for line in lines}
    for rows in split_by_query([line.row for line in lines]):
        of_call = [line_of[id(row)] for row in rows]
        try:
            record = record_of_rows(rows)
        except RecordError as error:
            yield _reject(error, of_call[0].number, rows[0], shard)
        else:
            yield _call([line_of[id(row)] for row in order_rows(rows)] or of_call, record, shard)


def _call(lines: list[_Line], record: Any, shard: FileShard) -> SearchCall | RejectedRecord:
    """The call of a record whose results are in these lines."""
    try:
        return check_bounds(parse_escaped_mapping(record), shard.bounds)
    except RecordError as error:
        of_result = _OF_RESULT.match(error.field or "")
        at = int(of_result[1]) if of_result and int(of_result[1]) < len(lines) else 0
        return _reject(error, lines[at].number, lines[at].row, shard)


def _reject(
    error: RecordError, number: int, row: Mapping[str, Any], shard: FileShard
) -> RejectedRecord:
    return reject_record(shard.path, f"line {number}", error, payload_of_mapping(row))
