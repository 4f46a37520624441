"""The traces that Python callers can pass: files, records, or a data frame."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import to_builtins

from goodgain.pipeline.api.data_frames import rows_in, table_of
from goodgain.pipeline.inputs.local_files import find_local_files
from goodgain.pipeline.run.plan.seen_names import (
    collect_names,
    collect_names_of_rows,
    is_long_table,
)
from goodgain.transforms.core.errors import RecordError, UsageError
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds, check_bounds
from goodgain.transforms.core.files.first_records import MOST_LOOKED_AT
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.long_form import Row, calls_of_rows, record_of_rows, with_maps
from goodgain.transforms.core.records.parsing import parse_escaped_mapping
from goodgain.transforms.core.records.rejection import (
    RejectedRecord,
    payload_of_mapping,
    reject_record,
)
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.warnings.field_names import SeenNames, names_in

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Traces: TypeAlias = (
    "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"
    " | Iterable[Mapping[str, Any] | SearchCall] | pd.DataFrame | pl.DataFrame | pl.LazyFrame"
    " | pa.Table | pa.RecordBatch"
)
_SOURCE = "traces"  # the path in rejected rows of traces in memory


def files_of(traces: Traces) -> list[InputFile] | None:
    """The files that match the paths or patterns; None for traces in memory.

    Raises:
      UsageError: a pattern matches nothing.
    """
    if isinstance(traces, str | os.PathLike):
        return find_local_files([os.fspath(traces)])
    if isinstance(traces, Sequence) and traces:
        paths = [os.fspath(trace) for trace in traces if isinstance(trace, str | os.PathLike)]
        if len(paths) == len(traces):
            return find_local_files(paths)
    return None


_InMemory: TypeAlias = "tuple[list[SearchCall | RejectedRecord], SeenNames]"


def read_in_memory(
    traces: Traces, adaptation: Adaptation | None = None, bounds: ReadBounds = DEFAULT_BOUNDS
) -> _InMemory:
    """Traces in memory as search calls and rejected rows, and the names in the first of them.

    The first records decide whether there is one for each search call or one for each result.

    Args:
      bounds: of these counts only the number of results of a record; all is decoded already.

    Raises:
      UsageError: `traces` is neither a list of records nor a table.
    """
    table = table_of(traces)
    records = _check(traces) if table is None else rows_in(table)
    first = list(islice(records, MOST_LOOKED_AT))
    records = chain(first, records)
    maps = [record for record in first if isinstance(record, Mapping)]
    if len(maps) == len(first) and is_long_table(maps, adaptation):
        return _parse_rows(_mappings(records), maps, adaptation, bounds)
    if table is not None:
        records = map(with_maps, _mappings(records))
    return _parse(records, adaptation, bounds)


def _mappings(records: Iterable[Mapping[str, Any] | SearchCall]) -> Iterator[Mapping[str, Any]]:
    for place, record in enumerate(records, start=1):
        if isinstance(record, SearchCall):
            raise UsageError(
                f"record {place} of the traces is a SearchCall, but the first ones are results; "
                "give either search calls or one dict per result."
            )
        yield record


def _parse_rows(
    rows: Iterable[Mapping[str, Any]],
    first: Sequence[Mapping[str, Any]],
    adaptation: Adaptation | None,
    bounds: ReadBounds,
) -> _InMemory:
    """Convert rows in long form; `first` are the first of them."""
    if adaptation is not None:
        rows = map(adaptation.apply_to_row, rows)
    calls = [
        _call_of(place, rows, bounds) for place, rows in enumerate(calls_of_rows(rows), start=1)
    ]
    return calls, collect_names_of_rows(first, adaptation)


def _call_of(place: int, rows: Sequence[Row], bounds: ReadBounds) -> SearchCall | RejectedRecord:
    try:
        record = record_of_rows(rows)
    except RecordError as error:
        return reject_record(_SOURCE, f"record {place}", error, payload_of_mapping(rows[0]))
    return _record(place, record, None, bounds)


def _parse(
    traces: Iterable[Mapping[str, Any] | SearchCall],
    adaptation: Adaptation | None,
    bounds: ReadBounds,
) -> _InMemory:
    left = iter(traces)
    first = list(islice(left, MOST_LOOKED_AT))
    raw = [record for record in first if isinstance(record, Mapping)]
    seen = collect_names(raw, adaptation) if raw else names_in(map(to_builtins, first))
    records = (
        _record(place, record, adaptation, bounds)
        for place, record in enumerate(chain(first, left), 1)
    )
    return list(records), seen


def _record(
    place: int,
    record: Mapping[str, Any] | SearchCall,
    adaptation: Adaptation | None,
    bounds: ReadBounds,
) -> SearchCall | RejectedRecord:
    try:
        return check_bounds(_call(record, adaptation), bounds)
    except RecordError as error:
        payload = payload_of_mapping(
            to_builtins(record) if isinstance(record, SearchCall) else record
        )
        return reject_record(_SOURCE, f"record {place}", error, payload)


def _call(record: Mapping[str, Any] | SearchCall, adaptation: Adaptation | None) -> SearchCall:
    if isinstance(record, SearchCall):
        return record
    return parse_escaped_mapping(adaptation.apply(record) if adaptation else record)


def _check(records: Any) -> Iterator[Mapping[str, Any] | SearchCall]:
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
