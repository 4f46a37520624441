"""Reads the footer of a Parquet file, before pyarrow does.

pyarrow crashes the process when it reads a column chunk with damaged statistics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import BinaryIO

from msgspec import Struct

from goodgain.transforms.core.files.thrift import Fields, structs_in

_TAIL = 8  # length of the footer, and PAR1
_DEEPEST = 100
_MOST_KEPT = 1024 * 1024  # bytes
# Numbers of fields in the footer.
_SCHEMA, _REPETITION, _CHILDREN = 2, 3, 5
_ROW_GROUPS, _COLUMNS, _ROWS, _METADATA = 4, 1, 3, 3
_CODEC, _VALUES, _CHUNK_SIZE, _DATA_PAGE, _DICTIONARY_PAGE, _ENCODINGS = 4, 5, 7, 9, 11, 13
_PAGE_TYPE, _ENCODING, _COUNT = 1, 2, 3  # of the pages with an encoding
_REPEATED = 2
DICTIONARY_PAGE = 2
# Two numbers for the same encoding, which writers mix.
_PLAIN_DICTIONARY, _RLE_DICTIONARY = 2, 8


class Chunk(Struct, frozen=True):
    """The values of one column in a row group, as the footer describes them.

    Attributes:
      begin: position of its first page in the file.
      size: bytes in the file.
      values: number of values, nulls included.
      codec: the number of the codec of its pages; 0 = they are not compressed.
      list: the innermost list around the column; equal for columns in the same lists, None outside.
      encodings: number of data pages by encoding; None if unknown.
    """

    begin: int
    size: int
    values: int
    codec: int
    list: int | None
    encodings: Mapping[int, int] | None


class RowGroup(Struct, frozen=True):
    """The number of rows of a row group, and its columns."""

    rows: int
    chunks: list[Chunk]

    @property
    def is_empty(self) -> bool:
        """Whether it has neither rows nor values: writers give no place for its pages then."""
        return not self.rows and not any(chunk.values for chunk in self.chunks)


def read_footer(file: BinaryIO) -> list[RowGroup]:
    """The row groups of a file whose schema is not nested too deeply for pyarrow.

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
    return _last_parsed(raw) if length <= _MOST_KEPT else _parse(raw)


def _parse(raw: bytes) -> list[RowGroup]:
    try:
        lists = _lists_of_columns(structs_in(raw, _SCHEMA))
        return [_row_group(group, lists) for group in structs_in(raw, _ROW_GROUPS)]
    except IndexError:
        raise ValueError("breaks off") from None
    except (AttributeError, TypeError):
        raise ValueError("has a number where a list or struct belongs") from None


_last_parsed = lru_cache(maxsize=1)(_parse)


def _lists_of_columns(elements: Iterable[Fields]) -> list[int | None]:
    """By column, the number of the innermost repeated element around it; None if there is none."""
    lists: list[int | None] = []
    open_parents: list[tuple[int, int | None]] = []  # remaining children, and their list
    for number, element in enumerate(elements):
        while open_parents and not open_parents[-1][0]:
            open_parents.pop()
        around = None
        if open_parents:
            remaining, around = open_parents[-1]
            open_parents[-1] = remaining - 1, around
        if element.get(_REPETITION) == _REPEATED:
            around = number
        children = element.get(_CHILDREN, 0)
        if children > 0:
            open_parents.append((children, around))
        elif number:  # the first element is the record
            lists.append(around)
        if len(open_parents) > _DEEPEST:
            raise ValueError(f"has a schema nested more than {_DEEPEST} levels deep")
    return lists


def _row_group(group: Fields, lists: list[int | None]) -> RowGroup:
    columns = group.get(_COLUMNS, ())
    if len(columns) != len(lists):
        raise ValueError(
            f"has {len(columns)} columns in a row group, but {len(lists)} in its schema"
        )
    if _ROWS not in group:
        raise ValueError("does not say how many rows it has")
    return RowGroup(group[_ROWS], [_chunk(*column) for column in zip(columns, lists, strict=True)])


def _chunk(column: Fields, around: int | None) -> Chunk:
    metadata = column.get(_METADATA, {})
    begins = [metadata[page] for page in (_DICTIONARY_PAGE, _DATA_PAGE) if page in metadata]
    if not begins or _CHUNK_SIZE not in metadata or _VALUES not in metadata:
        raise ValueError("does not say where its columns are")
    return Chunk(
        min(begins),
        metadata[_CHUNK_SIZE],
        metadata[_VALUES],
        metadata.get(_CODEC, 0),
        around,
        _encodings(metadata.get(_ENCODINGS, ())),
    )


def _encodings(pages: Iterable[Fields]) -> Mapping[int, int] | None:
    counts: Counter[int] = Counter()
    for page in pages:
        if page.get(_PAGE_TYPE) != DICTIONARY_PAGE:
            counts[plain_encoding(page.get(_ENCODING, 0))] += page.get(_COUNT, 0)
    return counts or None


def plain_encoding(encoding: int) -> int:
    """The number of an encoding, of which that by a dictionary has two."""
    return _RLE_DICTIONARY if encoding == _PLAIN_DICTIONARY else encoding
