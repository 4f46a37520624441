"""The traces that Python callers can pass: files, records, or a data frame."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from msgspec import to_builtins
from msgspec.structs import replace

from goodgain.pipeline.run.plan.local_files import local_files
from goodgain.pipeline.run.plan.seen_names import seen_names
from goodgain.transforms.core.errors import RecordError, UsageError
from goodgain.transforms.core.files.first_records import MOST_LOOKED_AT
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.parsing import parse_escaped_mapping
from goodgain.transforms.core.records.rejected import (
    RejectedRecord,
    payload_of_mapping,
    rejected_for,
)
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.warnings.field_names import (
    SeenNames,
    is_of_call,
    is_of_result,
    names_in,
)

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Traces: TypeAlias = (
    "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"
    " | Iterable[Mapping[str, Any] | SearchCall] | pd.DataFrame | pl.DataFrame | pl.LazyFrame"
    " | pa.Table | pa.RecordBatch"
)
_TABLES = ("pandas", "polars", "pyarrow")
_SOURCE = "traces"  # the path in rejected rows of traces in memory
_Record: TypeAlias = dict[str, Any]
_KEY_COLUMNS = ("conversation_id", "turn", "iteration", "call", "record_id")
_CALL_COLUMNS = (
    *_KEY_COLUMNS, "timestamp", "query", "tool", "turn_count", "is_final", "action", "error"
)  # fmt: skip
_CALL_MAPS = ("attributes", "costs")
_RESULT_MAPS = ("ids", "fields")
_RESULT_COLUMNS = tuple(name for name in Result.__struct_fields__ if name not in _RESULT_MAPS)
_RANK = "rank"
_MAPS = (*_CALL_MAPS, *_RESULT_MAPS)


def files_of(traces: Traces) -> list[InputFile] | None:
    """The files that match the paths or patterns; None for traces in memory.

    Raises:
      UsageError: a pattern matches nothing.
    """
    if isinstance(traces, str | os.PathLike):
        return local_files([os.fspath(traces)])
    if isinstance(traces, Sequence) and traces:
        paths = [os.fspath(one) for one in traces if isinstance(one, str | os.PathLike)]
        if len(paths) == len(traces):
            return local_files(paths)
    return None


_InMemory: TypeAlias = "tuple[list[SearchCall | RejectedRecord], SeenNames]"


def in_memory(traces: Traces, adaptation: Adaptation | None = None) -> _InMemory:
    """Traces in memory as search calls and rejected rows, and the names in the first of them.

    The first records decide whether there is one for each search call or one for each result.

    Raises:
      UsageError: `traces` is neither a list of records nor a table.
    """
    table = table_of(traces)
    records = _checked(traces) if table is None else _rows(table)
    first = list(islice(records, MOST_LOOKED_AT))
    records = chain(first, records)
    if _are_long(first, adaptation):
        return _parsed_rows(_mappings(records), list(_mappings(first)), adaptation)
    return _parsed(records, adaptation)


def _are_long(
    records: Iterable[Mapping[str, Any] | SearchCall], adaptation: Adaptation | None
) -> bool:
    names: set[str] = set()
    for record in records:
        if isinstance(record, SearchCall):
            return False
        names |= _names(adaptation.applied(record) if adaptation else record)
        names |= _names(adaptation.applied_to_row(record) if adaptation else record)
    return "results" not in names and any(map(_is_of_result, names))


def _names(row: Mapping[Any, Any]) -> set[str]:
    return {name for name in row if isinstance(name, str)}


def _mappings(records: Iterable[Mapping[str, Any] | SearchCall]) -> Iterator[Mapping[str, Any]]:
    for place, record in enumerate(records, start=1):
        if isinstance(record, SearchCall):
            raise UsageError(
                f"record {place} of the traces is a SearchCall, but the first ones are results; "
                "give either search calls or one dict per result."
            )
        yield record


def _parsed_rows(
    rows: Iterable[Mapping[str, Any]],
    first: Sequence[Mapping[str, Any]],
    adaptation: Adaptation | None,
) -> _InMemory:
    """Convert rows in long form; `first` are the first of them."""
    missing: Sequence[str] = ()
    if adaptation is not None:
        missing = adaptation.without_source([{**row, "results": [row]} for row in first])
        first = list(map(adaptation.applied_to_row, first))
        rows = map(adaptation.applied_to_row, rows)
    unknown = {name for row in first for name in _names(row) if not _is_column(name)}
    of_call = {name for name in unknown if is_of_call(name) and not is_of_result(name)}
    records, seen = _parsed(_records_of_rows(rows), None)
    return records, replace(
        seen,
        call=seen.call | of_call,
        result=(seen.result | unknown) - of_call,
        without_source=tuple(missing),
    )


def rows_of(table: Any) -> Iterable[Any]:
    """The rows of a pandas, polars or pyarrow table as dicts; anything else unchanged.

    Raises:
      UsageError: it is another object of these packages, like a single column.
    """
    found = table_of(table)
    return table if found is None else _rows(found)


def table_of(table: Any) -> Any:
    """A pandas or polars data frame or a pyarrow table; None if `table` is of another package.

    Raises:
      UsageError: it is another object of these packages, like a single column.
    """
    package, kind = type(table).__module__.split(".")[0], type(table).__name__
    if package not in _TABLES:
        return None
    if kind == "LazyFrame":
        return table.collect()
    if kind not in ("DataFrame", "Table", "RecordBatch"):
        raise UsageError(
            f"{package}.{kind} is not a table; give a DataFrame of pandas or polars, a Table "
            "of pyarrow, or a list of dicts."
        )
    return table


def _parsed(
    traces: Iterable[Mapping[str, Any] | SearchCall], adaptation: Adaptation | None
) -> _InMemory:
    left = iter(traces)
    first = list(islice(left, MOST_LOOKED_AT))
    raw = [one for one in first if isinstance(one, Mapping)]
    seen = seen_names(raw, adaptation) if raw else names_in(map(to_builtins, first))
    records = (_record(place, one, adaptation) for place, one in enumerate(chain(first, left), 1))
    return list(records), seen


def _record(
    place: int, record: Mapping[str, Any] | SearchCall, adaptation: Adaptation | None
) -> SearchCall | RejectedRecord:
    if isinstance(record, SearchCall):
        return record
    try:
        return parse_escaped_mapping(adaptation.applied(record) if adaptation else record)
    except RecordError as error:
        return rejected_for(_SOURCE, f"record {place}", error, payload_of_mapping(record))


def _checked(records: Any) -> Iterator[Mapping[str, Any] | SearchCall]:
    if isinstance(records, Mapping | str | bytes) or not isinstance(records, Iterable):
        raise UsageError(
            f"traces must be paths of files, a list of records, or a table of pandas, polars or "
            f"pyarrow, not {type(records).__name__}."
        )
    for place, record in enumerate(records, start=1):
        if not isinstance(record, Mapping | SearchCall):
            raise UsageError(
                f"record {place} of the traces is not a dict but {type(record).__name__}; give one "
                "dict per search call, or one per result."
            )
        yield record


def _rows(table: Any) -> Iterator[dict[str, Any]]:
    if hasattr(table, "iterrows"):
        columns = [series.astype(object).where(series.notna(), None) for _, series in table.items()]
        names = [str(name) for name in table.columns]
        rows = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
    elif hasattr(table, "iter_rows"):
        rows = table.iter_rows(named=True)
    else:
        batches = table.to_batches() if hasattr(table, "to_batches") else [table]
        rows = (row for batch in batches for row in batch.to_pylist())
    return (cast(dict[str, Any], _without_empty(row)) for row in rows)


def _without_empty(value: Any, name: str = "") -> Any:
    """A row without the nulls in its maps: in a table every row has the keys of all rows.

    Arrays become lists: pandas reads lists of Parquet as such.
    """
    if getattr(value, "ndim", 0):
        value = value.tolist()
    if isinstance(value, dict):
        kept = {key: _without_empty(one, key) for key, one in value.items()}
        if name in _MAPS:
            return {key: one for key, one in kept.items() if one is not None}
        return kept
    if name == "results" and isinstance(value, list | tuple):
        return [_without_empty(one) for one in value]
    return value


def _is_column(name: str) -> bool:
    """Whether a column has a meaning in rows of results."""
    return (
        name in (*_CALL_COLUMNS, *_RESULT_COLUMNS, *_MAPS, _RANK) or name.split(".", 1)[0] in _MAPS
    )


def _is_of_result(name: str) -> bool:
    if _is_column(name):
        return name == _RANK or name.split(".", 1)[0] in (*_RESULT_COLUMNS, *_RESULT_MAPS)
    return is_of_result(name)


def _records_of_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[_Record]:
    """The search calls of rows in long form, ordered by their first rows.

    Rows with the same conversation_id, turn, iteration, call and record_id are one search call; its
    own fields come from its first row. Its results are ordered by `rank`, or without ranks as the
    rows are. A row without any column of a result is a call that returned nothing. The columns
    `attributes.NAME`, `costs.NAME`, `ids.NAME` and `fields.NAME` become entries of those maps.
    Unknown columns stay with the results, for the warnings about them.

    Args:
      rows: column names to values; None and NaN are missing.

    Raises:
      UsageError: a rank is not a number.
    """
    calls: dict[Hashable, tuple[_Record, list[tuple[float, _Record]]]] = {}
    for number, row in enumerate(map(_without_nan, rows), start=1):
        key = _key(row)
        if key not in calls:
            calls[key] = (_part(row, _CALL_COLUMNS, _CALL_MAPS), [])
        result = _part(row, _RESULT_COLUMNS, _RESULT_MAPS)
        if result:
            unread = {name: value for name, value in row.items() if not _is_column(name)}
            calls[key][1].append((_rank(row.get(_RANK), number), {**unread, **result}))
    for call, ranked_results in calls.values():
        # Sorting is stable: without ranks, rows keep their order.
        ordered = sorted(ranked_results, key=itemgetter(0))
        yield {**call, "results": [result for _, result in ordered]}


def _without_nan(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row without NaN, which data frames have for missing values of any column."""
    if any(value != value for value in row.values() if isinstance(value, float)):
        return {
            name: value
            for name, value in row.items()
            if not (isinstance(value, float) and value != value)
        }
    return row


def _key(row: Mapping[str, Any]) -> Hashable:
    values = tuple(row.get(name) for name in _KEY_COLUMNS)
    try:
        hash(values)
    except TypeError:  # a list or a dict, which is rejected later
        return repr(values)
    return values


def _rank(value: Any, number: int) -> float:
    """The rank in the row with this number; a missing rank is after all others."""
    if value is None:
        return math.inf
    try:
        rank = float(value)
    except (TypeError, ValueError, OverflowError):
        rank = math.nan
    if math.isnan(rank):
        raise UsageError(f"row {number} of the traces has the rank {value!r}, which is no number.")
    return rank


def _part(row: Mapping[str, Any], names: tuple[str, ...], maps: tuple[str, ...]) -> _Record:
    part = {name: row[name] for name in names if row.get(name) is not None}
    for name in maps:
        whole = row.get(name) or {}
        if not isinstance(whole, Mapping) and not _are_pairs(whole):
            part[name] = whole  # in another form, or rejected later
            continue
        entries = dict(whole)
        prefix = f"{name}."
        entries.update(
            (column.removeprefix(prefix), value)
            for column, value in row.items()
            if column.startswith(prefix)
        )
        entries = {key: value for key, value in entries.items() if value is not None}
        if entries:
            part[name] = entries
    return part


def _are_pairs(entries: Any) -> bool:
    """Whether these are the entries of a map as pyarrow gives them."""
    return isinstance(entries, list) and all(
        isinstance(one, tuple) and len(one) == 2 for one in entries
    )
