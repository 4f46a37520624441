"""Reads the page headers of a Parquet file, before pyarrow does.

The footer has the same data for whole chunks, but readers allocate memory by the page headers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from msgspec import Struct

from goodgain.transforms.core.files.thrift import Fields, read_struct

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
