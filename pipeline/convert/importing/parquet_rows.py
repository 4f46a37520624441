"""The rows of a Parquet file whose columns are another tool's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goodgain.pipeline.inputs.progress import open_counted
from goodgain.transforms.core.errors import UsageError

_ROWS_AT_ONCE = 500


def parquet_rows(path: str) -> Iterator[dict[str, Any]]:
    """The rows of a file, with dicts for maps and structs, and lists for lists.

    Raises:
      UsageError: it cannot be read as Parquet.
    """
    import pyarrow.parquet  # slow to import

    try:
        with open_counted(path) as opened, pyarrow.parquet.ParquetFile(opened) as file:
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                columns = map(_values, batch.columns)
                for row in zip(*columns, strict=True):
                    yield dict(zip(batch.schema.names, row, strict=True))
    except pyarrow.ArrowException as error:
        problem = str(error).splitlines()[0]
        raise UsageError(f"{path} cannot be read as Parquet: {problem}") from None


def _values(column: Any) -> list[Any]:
    values: list[Any] = column.to_pylist()
    if _has_map(column.type):
        return [_with_dicts(value, column.type) for value in values]
    return values


def _has_map(kind: Any) -> bool:
    from pyarrow import types

    return types.is_map(kind) or any(map(_has_map, _inner_types(kind)))


def _inner_types(kind: Any) -> list[Any]:
    """The types of the fields of a struct, or of the elements of a list."""
    from pyarrow import types

    if types.is_struct(kind):
        return [field.type for field in kind]
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return [kind.value_type] if is_list else []


def _with_dicts(value: Any, kind: Any) -> Any:
    """A value of `to_pylist` with dicts for maps, which only pyarrow from 20 on makes."""
    from pyarrow import types

    if value is None:
        return None
    if types.is_map(kind):
        return {key: _with_dicts(item, kind.item_type) for key, item in value}
    if types.is_struct(kind):
        return {field.name: _with_dicts(value[field.name], field.type) for field in kind}
    if inner := _inner_types(kind):
        return [_with_dicts(item, inner[0]) for item in value]
    return value
