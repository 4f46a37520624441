"""Finds the longest text in a dictionary of a Parquet file, before pyarrow decodes it.

pyarrow decodes values along with it, which costs about as much as reading the whole column.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, BinaryIO

import pyarrow as pa

from goodgain.transforms.core.files.parquet_pages import DictionaryPage, Pages
from goodgain.transforms.core.native import native_module

# Arrow's names of codecs, by their numbers in Parquet.
_CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
_NO_CODEC = 0
_PLAIN_ENCODINGS = (0, 2)  # writers mix the two numbers
_LENGTH = Struct("<I")


def longest_entry(file: BinaryIO, pages: Pages, codec: int) -> int | None:
    """The bytes of the longest text in the dictionary of a column chunk.

    None for a dictionary that is unusual or damaged, which is left to pyarrow.

    Args:
      codec: the number of the codec of the pages.
    """
    page = pages.dictionary_page
    if page is None or pages.dictionaries > 1 or page.encoding not in _PLAIN_ENCODINGS:
        return None
    if not 0 <= page.values * _LENGTH.size <= page.size:
        return None
    texts = _content(file, page, codec)
    if texts is None:
        return None
    native = native_module()
    find: Any = longest_text if native is None else native.longest_text
    longest: int | None = find(texts, page.values)
    return longest


def longest_text(texts: bytes, count: int) -> int | None:
    """The bytes of the longest of some texts, each after its length in four bytes.

    None if there are not `count` of them, or bytes are left. Native code does the same.
    """
    at, last, longest, left = 0, len(texts) - _LENGTH.size, 0, count
    length_at = _LENGTH.unpack_from
    while at <= last:
        (length,) = length_at(texts, at)
        at += _LENGTH.size + length
        longest = max(longest, length)
        left -= 1
    return longest if at == len(texts) and not left else None


def _content(file: BinaryIO, page: DictionaryPage, codec: int) -> bytes | None:
    """A page without its compression; None if that is left to pyarrow."""
    file.seek(page.at)
    packed = file.read(page.packed)
    if codec == _NO_CODEC:
        return packed
    name = _CODECS.get(codec)
    if name is None:
        return None
    try:
        content: bytes = pa.decompress(packed, page.size, name, asbytes=True)
    except (OSError, pa.ArrowException):
        return None
    return content
