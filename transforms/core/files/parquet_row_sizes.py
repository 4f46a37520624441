"""How many rows of a Parquet row group to decode together, so that memory is bounded.

A run of equal values takes a few bytes however long it is, and so does a dictionary entry however
often it is used. So neither the size of a row group nor its number of rows shows how large a row is
once decoded. Nearly always the headers of its pages show that it is harmless. Otherwise the lengths
of its lists and the entries of its dictionaries are read first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow.compute as pc
from pyarrow import types

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.files.parquet_dictionary import longest_entry
from goodgain.transforms.core.files.parquet_footer import RowGroup
from goodgain.transforms.core.files.parquet_leaves import Leaf, OpenParquet, arrays_of, leaves_of
from goodgain.transforms.core.files.parquet_pages import DamagedPagesError
from goodgain.transforms.core.remedy import Remedy

_HARMLESS_VALUES = 250_000
_MOST_VALUES = 5_000_000
_BYTES_PER_VALUE = 2  # compressed, over all columns; real lists take more
_LARGEST_ROW = 2  # times the limit for a page
_AT_ONCE = 4  # fraction of the limit for a page, since decoded data are held several times
_LARGEST_RATIO = 16  # of expansion, for row groups that exceed the memory limit
_VALUES_PER_BYTE = 4
_IDENTITY = {"conversation_id", "iteration"}  # columns that every record has


class RowGroupTooLargeError(GoodGainError):
    """A row group that would take too much memory; the message follows its position."""


def rows_at_once(
    opened: OpenParquet,
    group: int,
    described: RowGroup,
    columns: Sequence[str],
    bounds: ReadBounds,
    most_rows: int,
) -> int:
    """The number of rows of a row group to decode together.

    Args:
      described: the row group, from the footer.

    Raises:
      DamagedPagesError: its columns do not have the values that they should.
      RowGroupTooLargeError: a row of it may take too much memory.
    """
    leaves = list(leaves_of(opened, described, set(columns)))
    _check_sums(leaves, described.rows)
    _check_sizes(leaves, bounds)
    most_values = max((leaf.pages.values for leaf in leaves), default=0)
    packed = sum(chunk.size for chunk in described.chunks)
    if most_values > _MOST_VALUES + packed // _BYTES_PER_VALUE:
        raise RowGroupTooLargeError(f"it claims {most_values:,} values in {packed:,} bytes")
    most_bytes = _LARGEST_ROW * bounds.max_decoded_bytes
    at_once = bounds.max_decoded_bytes // _AT_ONCE
    data_bytes = sum(leaf.pages.total for leaf in leaves)
    average = data_bytes // max(1, described.rows)
    longest_texts = [
        (leaf, _longest_text(opened, group, leaf))
        for leaf in leaves
        if leaf.longest_value * leaf.pages.values > at_once
    ]
    text_bytes = sum(longest * leaf.pages.values for leaf, longest in longest_texts)
    if most_values <= _HARMLESS_VALUES and text_bytes <= at_once:
        return max(1, min(most_rows, at_once // max(1, average)))
    longest_rows = {
        leaf.list: _longest_row(opened, group, leaf, bounds) for leaf in _cheapest_leaves(leaves)
    }
    rows = min(most_rows, _HARMLESS_VALUES // max(longest_rows.values(), default=1))
    row_bytes = sum(longest * longest_rows.get(leaf.list, 1) for leaf, longest in longest_texts)
    if row_bytes > most_bytes:
        raise RowGroupTooLargeError(
            f"a row of it may have {row_bytes:,} bytes of text: " + bounds.remedy + " to read it"
        )
    return max(1, min(rows, at_once // max(1, row_bytes, average)))


def rows_in(opened: OpenParquet, described: RowGroup) -> int:
    """The number of rows of a row group, from the pages of columns that every record has."""
    try:
        leaves = list(leaves_of(opened, described, _IDENTITY))
    except Exception:  # pyarrow raises all kinds of errors on a broken footer
        return 0
    return max((leaf.pages.values for leaf in leaves), default=0)


def _check_sums(leaves: Sequence[Leaf], rows: int) -> None:
    """Hold columns against the number of rows, and those in the same lists against each other."""
    values: dict[int | None, int] = {None: rows}
    for leaf in leaves:
        pages = leaf.pages
        if pages.damage:
            raise DamagedPagesError(f"the column {leaf.path} {pages.damage}")
        if pages.rows not in (None, rows):
            raise DamagedPagesError(f"the column {leaf.path} has {pages.rows:,} of {rows:,} rows")
        expected = values.setdefault(leaf.list, max(rows, pages.values))
        if pages.values != expected:
            raise DamagedPagesError(
                f"the column {leaf.path} has {pages.values:,} values instead of {expected:,}"
            )


def _check_sizes(leaves: Sequence[Leaf], bounds: ReadBounds) -> None:
    opened = sum(leaf.pages.dictionary + leaf.pages.largest for leaf in leaves)
    if opened > bounds.max_decoded_bytes:  # each column has one open page, and its dictionary
        raise RowGroupTooLargeError(
            f"its pages take {opened:,} bytes at a time: " + bounds.remedy + " to read it"
        )
    for leaf in leaves:
        # Each value may repeat the previous one at a fraction of a bit; real values differ.
        decoded = leaf.pages.largest * leaf.pages.values if leaf.pages.incremental else 0
        if decoded > bounds.memory and leaf.packed < leaf.pages.values // _VALUES_PER_BYTE:
            raise RowGroupTooLargeError(f"{leaf.path} may expand to {decoded:,} bytes")
    total = sum(leaf.pages.total for leaf in leaves)
    if total > bounds.memory and total > _LARGEST_RATIO * sum(leaf.packed for leaf in leaves):
        raise RowGroupTooLargeError(f"it expands to {total:,} bytes")


def _cheapest_leaves(leaves: Sequence[Leaf]) -> list[Leaf]:
    """One leaf for each set of lists, the cheapest to read."""
    cheapest: dict[int, Leaf] = {}
    for leaf in sorted(leaves, key=lambda leaf: (leaf.size is None, leaf.pages.total, leaf.path)):
        if leaf.list is not None:
            cheapest.setdefault(leaf.list, leaf)
    return list(cheapest.values())


def _longest_row(opened: OpenParquet, group: int, leaf: Leaf, bounds: ReadBounds) -> int:
    """The number of a leaf's values in the longest row; strings stay in their dictionary."""
    longest = 1
    for array in arrays_of(opened, group, leaf):
        offsets = np.arange(len(array) + 1)
        while types.is_struct(array.type) or types.is_list(array.type):
            if types.is_struct(array.type):
                array = array.field(0)
            else:
                offsets = array.offsets.to_numpy()[offsets]
                array = array.values
        longest = max(longest, int(np.diff(offsets).max(initial=0)))
    results = leaf.levels == 1 and leaf.path.startswith("results.")
    most_values = bounds.max_record_results if results else bounds.record_values
    if longest > most_values:
        what = "results" if results else f"values of {leaf.path.split('.', 1)[0]}"
        raise RowGroupTooLargeError(
            f"a row of it has {longest:,} {what}; at most {most_values:,} are read: raise "
            + Remedy("max_record_results")
        )
    return longest


def _longest_text(opened: OpenParquet, group: int, leaf: Leaf) -> int:
    """The bytes of the longest value that is stored once for many."""
    if leaf.size is not None:
        return leaf.size
    if leaf.pages.incremental:
        return leaf.longest_value
    longest = longest_entry(opened.file, leaf.pages, leaf.codec)
    return _longest_decoded_text(opened, group, leaf) if longest is None else longest


def _longest_decoded_text(opened: OpenParquet, group: int, leaf: Leaf) -> int:
    """Like `_longest_text`, for texts in a dictionary that only pyarrow can read."""
    longest = 0
    for array in arrays_of(opened, group, leaf):
        while types.is_struct(array.type) or types.is_list(array.type):
            array = array.field(0) if types.is_struct(array.type) else array.values
        if not types.is_dictionary(array.type):
            return leaf.longest_value
        if len(array):
            longest = max(longest, pc.max(pc.binary_length(array.dictionary)).as_py() or 0)
            break  # the dictionary of a chunk precedes its first page
    return longest
