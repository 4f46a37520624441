"""Reads the page headers of a column in a Parquet file, before pyarrow does.

The footer has the sizes of whole columns, but readers allocate memory by the page headers. And they
skip pages of unknown types without a word, so that later values move up to other rows: the headers
must add up to what the footer says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from msgspec import Struct

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.parquet_footer import DICTIONARY_PAGE, Chunk, plain_encoding
from goodgain.transforms.core.files.parquet_levels import are_levels
from goodgain.transforms.core.files.thrift import Fields, read_struct

DELTA_BYTE_ARRAY = 7
_DATA, _DATA_V2 = 0, 3
# Field numbers of PageHeader, and of the headers of data pages inside it.
_TYPE, _DECOMPRESSED_SIZE, _COMPRESSED_SIZE = 1, 2, 3
_HEADERS = {_DATA: 5, DICTIONARY_PAGE: 7, _DATA_V2: 8}  # by type of page
_VALUES, _ENCODING, _ROWS_V2, _ENCODING_V2, _IS_COMPRESSED_V2 = 1, 2, 3, 4, 7
_DEFINITIONS_V2, _REPETITIONS_V2 = 5, 6  # lengths of the levels, before the values
_FIRST_READ = 512
_LONGEST_HEADER = 1024 * 1024


class DamagedPagesError(GoodGainError):
    """Page headers that do not add up; the message is not a sentence."""


class MostLevels(NamedTuple):
    """The greatest levels of a column: how many lists, and lists and nulls, may be around it."""

    repetition: int
    definition: int


class DictionaryPage(NamedTuple):
    """A page with the distinct values of a column chunk, as its header describes it.

    Attributes:
      at: position in the file after its header.
      packed: bytes in the file.
      size: bytes when decompressed.
      encoding: how its values are encoded.
    """

    at: int
    packed: int
    size: int
    values: int
    encoding: int


class Pages(Struct):
    """The pages of a column chunk, summed up.

    Attributes:
      rows: rows of those pages whose headers have their number.
      dictionary: decompressed bytes of the largest dictionary.
      dictionaries: number of dictionaries; readers refuse more than one.
      dictionary_page: the last dictionary; None without one.
      largest: decompressed bytes of the largest data page.
      total: decompressed bytes of all data pages.
      incremental: whether values may be stored as differences (delta encoding).
      damage: what does not add up, in words; "" if all does.
    """

    values: int = 0
    rows: int | None = None
    dictionary: int = 0
    dictionaries: int = 0
    dictionary_page: DictionaryPage | None = None
    largest: int = 0
    total: int = 0
    incremental: bool = False
    damage: str = ""


def pages_of(file: BinaryIO, chunk: Chunk, levels: MostLevels) -> Pages:
    """Sum up the pages of a column chunk, up to the first damaged header.

    Args:
      levels: those of the column.
    """
    pages = Pages()
    encodings: Counter[int] = Counter()
    try:
        for header, at in _headers(file, chunk):
            _add(pages, encodings, header, at)
            if header[_TYPE] == _DATA_V2:
                _check_levels(file, at, header, levels)
        if pages.values != chunk.values:
            raise DamagedPagesError(f"has {pages.values:,} values instead of {chunk.values:,}")
        if chunk.encodings is not None and encodings != chunk.encodings:
            raise DamagedPagesError("has pages of other encodings than the footer says")
    except DamagedPagesError as error:
        pages.damage = str(error)
    return pages


def _add(pages: Pages, encodings: Counter[int], header: Fields, at: int) -> None:
    kind, length = header[_TYPE], header[_DECOMPRESSED_SIZE]
    data = header[_HEADERS[kind]]
    encoding = data.get(_ENCODING_V2 if kind == _DATA_V2 else _ENCODING, 0)
    if kind == DICTIONARY_PAGE:
        of_page = header[_COMPRESSED_SIZE], length, data.get(_VALUES, 0), encoding
        pages.dictionary = max(pages.dictionary, length)
        pages.dictionaries += 1
        pages.dictionary_page = DictionaryPage(at, *of_page)
        return
    encodings[plain_encoding(encoding)] += 1
    pages.values += data.get(_VALUES, 0)
    if kind == _DATA_V2:
        pages.rows = (pages.rows or 0) + data.get(_ROWS_V2, 0)
    pages.largest = max(pages.largest, length)
    pages.total += length
    pages.incremental = pages.incremental or encoding == DELTA_BYTE_ARRAY


def _check_levels(file: BinaryIO, at: int, header: Fields, most: MostLevels) -> None:
    """Hold the lengths of levels in a header of a data page against the levels.

    Args:
      at: where the page begins, after its header.

    Raises:
      DamagedPagesError: they are not the levels of its values.
    """
    data = header[_HEADERS[_DATA_V2]]
    lengths = data.get(_REPETITIONS_V2, 0), data.get(_DEFINITIONS_V2, 0)
    if min(lengths) < 0 or sum(lengths) > header[_COMPRESSED_SIZE]:
        raise DamagedPagesError("has levels of an impossible size")
    file.seek(at)
    for length, of_kind in zip(lengths, most, strict=True):
        if not are_levels(file.read(length), of_kind, data.get(_VALUES, 0)):
            raise DamagedPagesError("has other levels than its page headers say")


def _headers(file: BinaryIO, chunk: Chunk) -> Iterator[tuple[Fields, int]]:
    """The page headers of a column chunk, and the positions after them.

    Raises:
      DamagedPagesError: one of them is damaged, or the pages do not fill the chunk.
    """
    at, end = chunk.begin, chunk.begin + chunk.size
    while 0 <= at < end:
        header, length = _header_at(file, at)
        packed = _check_page_size(header, chunk.codec != 0)
        yield header, at + length
        at += length + packed
    if at != end:
        raise DamagedPagesError("has pages that end elsewhere than the footer says")


def _check_page_size(header: Fields, is_compressed: bool) -> int:
    """The bytes of the page after its header.

    Raises:
      DamagedPagesError: the header contradicts itself.
    """
    kind = header.get(_TYPE)
    details = header.get(_HEADERS.get(kind, 0)) if kind is not None else None
    if not isinstance(details, dict):
        raise DamagedPagesError("has a page of an unknown type")
    packed: int = header.get(_COMPRESSED_SIZE, -1)
    length: int = header.get(_DECOMPRESSED_SIZE, -1)
    plain = not is_compressed or not details.get(_IS_COMPRESSED_V2, True)
    if packed < 0 or length < 0 or (plain and packed != length):
        raise DamagedPagesError("has a page of an impossible size")
    return packed


def _header_at(file: BinaryIO, at: int) -> tuple[Fields, int]:
    """The header at a position, and its length.

    Raises:
      DamagedPagesError: it is damaged.
    """
    size = _FIRST_READ
    while size <= _LONGEST_HEADER:
        file.seek(at)
        raw = file.read(size)
        try:
            return read_struct(raw)
        except IndexError:
            if len(raw) < size:
                break
        except ValueError:
            break
        size *= 8
    raise DamagedPagesError("has a page whose header is damaged")
