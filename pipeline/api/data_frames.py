"""The rows of tables of pandas, polars and pyarrow that Python callers pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.records.field_types import MAPS

_PACKAGES = ("pandas", "polars", "pyarrow")


def rows_of_table(table: Any, what: str, expected: str) -> Iterable[Any]:
    """Rows that the caller holds beside the traces, unchanged, or those of a table as dicts.

    Args:
      what: the argument's name, for messages.
      expected: the columns of its rows, and what else it may be.

    Raises:
      UsageError: it is neither.
    """
    found = table_of(table)
    rows = table if found is None else rows_in(found)
    if not isinstance(rows, Iterable):
        raise UsageError(f"{what} must be a path, a table or rows with {expected}.")
    return rows


def table_of(table: Any) -> Any:
    """A pandas or polars data frame or a pyarrow table; None if `table` is of another package.

    Raises:
      UsageError: it is another object of these packages, like a single column.
    """
    package, kind = type(table).__module__.split(".")[0], type(table).__name__
    if package not in _PACKAGES:
        return None
    if kind == "LazyFrame":
        return table.collect()
    if kind not in ("DataFrame", "Table", "RecordBatch"):
        raise UsageError(
            f"{package}.{kind} is not a table; give a DataFrame of pandas or polars, a Table "
            "of pyarrow, or a list of dicts."
        )
    return table


def rows_in(table: Any) -> Iterator[dict[str, Any]]:
    """The rows of a table as dicts, without the nulls in their maps.

    Raises:
      UsageError: two columns have one name.
    """
    _check_columns(table)
    if hasattr(table, "iterrows"):
        columns = [series.astype(object).where(series.notna(), None) for _, series in table.items()]
        names = [str(name) for name in table.columns]
        rows = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
    elif hasattr(table, "iter_rows"):
        rows = table.iter_rows(named=True)
    else:
        # pyarrow is slow to import.
        from goodgain.transforms.core.files.arrow_values import rows_of_batch

        batches = table.to_batches() if hasattr(table, "to_batches") else [table]
        rows = (row for batch in batches for row in rows_of_batch(batch)[0])
    return (cast(dict[str, Any], _drop_empty(row)) for row in rows)


def _check_columns(table: Any) -> None:
    """Refuse a table in which a column would hide another of its name.

    Raises:
      UsageError: two columns have one name.
    """
    # Of pyarrow, or of pandas and polars.
    names = table.column_names if hasattr(table, "column_names") else table.columns
    counts = Counter(map(str, names))
    twice = next((name for name, count in counts.items() if count > 1), None)
    if twice is not None:
        raise UsageError(
            f"The table has the column {twice} twice: drop or rename one of them, so that it is "
            "clear which counts."
        )


def _drop_empty(value: Any, name: str = "") -> Any:
    """A row without the nulls in its maps: in a table every row has the keys of all rows.

    Arrays become lists: pandas reads lists of Parquet as such.
    """
    if getattr(value, "ndim", 0):
        value = value.tolist()
    if isinstance(value, dict):
        kept = {key: _drop_empty(entry, key) for key, entry in value.items()}
        if name in MAPS:
            return {key: entry for key, entry in kept.items() if entry is not None}
        return kept
    if name == "results" and isinstance(value, list | tuple):
        return [_drop_empty(item) for item in value]
    return value


def rows_of_nested(
    given: Mapping[Any, Any], message: str
) -> Iterator[tuple[Any, Mapping[Any, Any]]]:
    """The items of a mapping of mappings.

    Raises:
      UsageError: a value is no mapping; with `message`, formatted with its key.
    """
    for key, values in given.items():
        if not isinstance(values, Mapping):
            raise UsageError(message.format(key))
        yield key, values
