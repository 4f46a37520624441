"""Reads schema and columns from the footer of a Parquet file, before pyarrow does.

pyarrow crashes the process when it reads a column chunk with damaged statistics.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import BinaryIO

from msgspec import Struct

from goodgain.transforms.core.files.thrift import Fields, structs_in

_TAIL = 8  # length of the footer, and PAR1
_DEEPEST = 100
_MOST_KEPT = 1024 * 1024  # bytes
# Numbers of fields.
_SCHEMA, _CHILDREN = 2, 5
_ROW_GROUPS, _COLUMNS, _METADATA = 4, 1, 3
_COMPRESSED_SIZE, _DATA_PAGE, _DICTIONARY_PAGE = 7, 9, 11


class Chunk(Struct, frozen=True):
    """The values of one column in a row group.

    Attributes:
      begin: position of its first page in the file.
      size: bytes in the file.
    """

    begin: int
    size: int


Footer = list[list[Chunk]]  # by row group and column


def read_footer(file: BinaryIO) -> Footer:
    """The column chunks of a file whose schema is not nested too deeply for pyarrow.

    Raises:
      ValueError: it is nested too deeply, or the footer cannot be read; the message follows "The
        footer".
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL))
    tail = file.read(_TAIL)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != b"PAR1" or length + _TAIL > size:
        raise ValueError("does not end like that of a Parquet file")
    file.seek(size - _TAIL - length)
    raw = file.read(length)
    # Cached, since a worker reads several shards of a file; long footers are not.
    return _last_parsed(raw) if length <= _MOST_KEPT else _parsed(raw)


def _parsed(raw: bytes) -> Footer:
    try:
        _check_schema(structs_in(raw, _SCHEMA))
        groups = structs_in(raw, _ROW_GROUPS)
        return [[_chunk(column) for column in group.get(_COLUMNS, ())] for group in groups]
    except IndexError:
        raise ValueError("breaks off") from None
    except (AttributeError, TypeError):
        raise ValueError("has a number where a list or struct belongs") from None


_last_parsed = lru_cache(maxsize=1)(_parsed)


def _check_schema(elements: Iterable[Fields]) -> None:
    open_parents: list[int] = []  # number of remaining children
    for element in elements:
        while open_parents and not open_parents[-1]:
            open_parents.pop()
        if open_parents:
            open_parents[-1] -= 1
        if element.get(_CHILDREN, 0) > 0:
            open_parents.append(element[_CHILDREN])
        if len(open_parents) > _DEEPEST:
            raise ValueError(f"has a schema nested more than {_DEEPEST} levels deep")


def _chunk(column: Fields) -> Chunk:
    metadata = column.get(_METADATA, {})
    begins = [metadata[page] for page in (_DICTIONARY_PAGE, _DATA_PAGE) if page in metadata]
    if not begins or _COMPRESSED_SIZE not in metadata:
        raise ValueError("does not say where its columns are")
    return Chunk(min(begins), metadata[_COMPRESSED_SIZE])
