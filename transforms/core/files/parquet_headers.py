"""Reads the footer and the page headers of a Parquet file, before pyarrow does.

pyarrow crashes the process when it reads a column chunk with damaged statistics. The footer has the
sizes of whole chunks, but readers allocate memory by the page headers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import BinaryIO

from msgspec import Struct

from goodgain.transforms.core.files.thrift import Fields, read_struct, structs_in

_TAIL = 8  # length of the footer, and PAR1
_DEEPEST = 100
_MOST_KEPT = 1024 * 1024  # bytes
# Numbers of fields in the footer.
_SCHEMA, _CHILDREN = 2, 5
_ROW_GROUPS, _COLUMNS, _METADATA = 4, 1, 3
_CHUNK_SIZE, _DATA_PAGE, _DICTIONARY_PAGE = 7, 9, 11


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
    if not begins or _CHUNK_SIZE not in metadata:
        raise ValueError("does not say where its columns are")
    return Chunk(min(begins), metadata[_CHUNK_SIZE])


DELTA_BYTE_ARRAY = 7
_DATA, _DICTIONARY = 0, 2
# Field numbers of PageHeader, and of the headers of data pages inside it.
_TYPE, _DECOMPRESSED_SIZE, _COMPRESSED_SIZE, _DATA_HEADER, _DATA_HEADER_V2 = 1, 2, 3, 5, 8
_VALUES, _ENCODING, _ENCODING_V2 = 1, 2, 4
_FIRST_READ = 512
_LONGEST_HEADER = 1024 * 1024


class Pages(Struct):
    """The pages of a column chunk, summed up.

    Attributes:
      dictionary: decompressed bytes of the dictionary.
      largest: decompressed bytes of the largest data page.
      total: decompressed bytes of all data pages.
      incremental: whether values may be stored as differences (delta encoding).
    """

    values: int = 0
    dictionary: int = 0
    largest: int = 0
    total: int = 0
    incremental: bool = False


def pages_of(file: BinaryIO, begin: int, size: int) -> Pages:
    """Sum up the pages in a byte range, up to the first damaged header."""
    pages = Pages()
    for header in _headers(file, begin, begin + size):
        length = header.get(_DECOMPRESSED_SIZE, 0)
        is_v1 = header.get(_TYPE) == _DATA
        if header.get(_TYPE) == _DICTIONARY:
            pages.dictionary = max(pages.dictionary, length)
            continue
        data = header.get(_DATA_HEADER if is_v1 else _DATA_HEADER_V2, {})
        encoding = data.get(_ENCODING if is_v1 else _ENCODING_V2)
        pages.values += data.get(_VALUES, 0)
        pages.largest = max(pages.largest, length)
        pages.total += length
        pages.incremental = pages.incremental or encoding == DELTA_BYTE_ARRAY
    return pages


def _headers(file: BinaryIO, at: int, end: int) -> Iterator[Fields]:
    while 0 <= at < end:
        parsed = _header_at(file, at)
        if parsed is None:
            return
        header, length = parsed
        packed = header.get(_COMPRESSED_SIZE, -1)
        if packed < 0:
            return
        yield header
        at += length + packed


def _header_at(file: BinaryIO, at: int) -> tuple[Fields, int] | None:
    """The header at a position and its length; None if it is damaged."""
    size = _FIRST_READ
    while size <= _LONGEST_HEADER:
        file.seek(at)
        raw = file.read(size)
        try:
            return read_struct(raw)
        except IndexError:
            if len(raw) < size:
                return None
        except ValueError:
            return None
        size *= 8
    return None
