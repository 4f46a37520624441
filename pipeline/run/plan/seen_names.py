"""Looks at the beginning of the input before it is read, for the names in its records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from msgspec.structs import replace

from goodgain.transforms.core.files.first_records import first_records
from goodgain.transforms.core.files.input_formats import INPUT_FORMATS
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.likely_fields import is_of_call, is_of_result
from goodgain.transforms.core.records.long_form import (
    RESULTS,
    calls_of_rows,
    is_column,
    is_long,
    record_of_rows,
    with_maps,
)
from goodgain.transforms.core.records.renames import RANK
from goodgain.transforms.core.warnings.field_names import SeenNames, join_names, names_in

_MOST_FILES = 1_000  # if there are more, evenly spaced ones


def find_names(
    files: Sequence[InputFile],
    open_file: Callable[[str], BinaryIO],
    adaptation: Adaptation | None = None,
) -> SeenNames:
    """The names in the first records of files.

    Args:
      files: the input; if there are more than 1,000 files, a sample that includes the first and the
        last.
      adaptation: applied to the records first, so that renamed fields are seen under their new
        names.
    """
    if len(files) > _MOST_FILES:
        step = (len(files) - 1) / (_MOST_FILES - 1)
        files = [files[round(step * number)] for number in range(_MOST_FILES)]
    records: list[Any] = []
    seen: list[SeenNames] = []
    for file in files:
        # Empty files are left out, and pipes, which cannot be read twice.
        with suppress(OSError):  # reading the file will reject it
            if file.size:
                with open_file(file.path) as opened:
                    for shard in plan_shards(opened, file.path, file.size)[:1]:
                        first = first_records(opened, shard)
                        is_table = INPUT_FORMATS[shard.format].is_table
                        if is_table and is_long_table(first, adaptation):
                            seen.append(collect_names_of_rows(first, adaptation))
                        else:
                            records += map(with_maps, first) if is_table else first
    if records or not seen:
        seen.append(collect_names(records, adaptation))
    return join_names(seen)


def is_long_table(rows: Iterable[Mapping[Any, Any]], adaptation: Adaptation | None = None) -> bool:
    """Whether raw rows are results rather than search calls, after `adaptation`."""
    names: set[Any] = set()
    for row in rows:
        names.update(adaptation.apply(row) if adaptation else row)
        names.update(adaptation.apply_to_row(row) if adaptation else row)
    return is_long(name for name in names if isinstance(name, str))


def collect_names(records: Sequence[Any], adaptation: Adaptation | None = None) -> SeenNames:
    """The names in raw records, after `adaptation`."""
    if adaptation is None:
        return names_in(records)
    seen = names_in(map(adaptation.apply, records))
    missing = adaptation.missing_sources(records) if records else ()
    return replace(seen, without_source=tuple(missing))


def collect_names_of_rows(
    rows: Sequence[Mapping[str, Any]], adaptation: Adaptation | None = None
) -> SeenNames:
    """The names in raw rows in long form, after `adaptation`."""
    missing: Sequence[str] = ()
    if adaptation is not None:
        missing = adaptation.missing_sources([{**row, RESULTS: [row]} for row in rows])
        rows = list(map(adaptation.apply_to_row, rows))
    names = {name for row in rows for name in row if isinstance(name, str)}
    rows = [{name: value for name, value in row.items() if name != RANK} for row in rows]
    unknown = {name for name in names if not is_column(name)}
    of_call = {name for name in unknown if is_of_call(name) and not is_of_result(name)}
    seen = names_in(map(record_of_rows, calls_of_rows(rows)))
    return replace(
        seen,
        call=seen.call | of_call,
        result=(seen.result | unknown) - of_call,
        without_source=tuple(missing),
        is_long=True,
    )
