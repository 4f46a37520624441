"""Values of an attribute for many results in columns, to compare one result with all of them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from goodgain.transforms.core.dedup.evidence import Value

Kind = TypeVar("Kind", bound=np.generic)
Numbers = NDArray[np.intp]
Marks = NDArray[np.bool_]

# Special values in place of a digest; a collision is as unlikely as one of two digests.
_ABSENT = 0
_MORE = 1  # more values than the column has room for
_MOST_VALUES = 4


class EvidenceColumn:
    """The values of an attribute for each occurrence; an id may have several.

    Attributes:
      incomplete: whether some occurrence has more values than the column keeps.
    """

    __slots__ = ("_cells", "_layers", "incomplete")

    def __init__(self, capacity: int) -> None:
        """Make an empty column with room for `capacity` occurrences."""
        # The n-th value of an occurrence is in the n-th layer.
        self._layers = [np.zeros(capacity, np.uint64)]
        # Setting an item here takes a third of the time of setting it in the array.
        self._cells = [self._layers[0].data]
        self.incomplete = False

    def grow(self, capacity: int) -> None:
        """Make room for more occurrences."""
        self._layers = [extend_column(layer, capacity) for layer in self._layers]
        self._cells = [layer.data for layer in self._layers]

    def put(self, occurrence: int, value: Value) -> None:
        """Set the value of an occurrence; called once for each."""
        if isinstance(value, int):
            self._cells[0][occurrence] = value
        elif len(value) > _MOST_VALUES:
            self._cells[0][occurrence] = _MORE
            self.incomplete = True
        else:
            for layer, part in enumerate(value):
                if layer == len(self._layers):
                    self._layers.append(np.zeros(self._layers[0].size, np.uint64))
                    self._cells.append(self._layers[layer].data)
                self._cells[layer][occurrence] = part

    def equal(self, occurrences: Numbers, value: Value) -> Marks:
        """Which occurrences certainly have a value in common with this one."""
        marks = _is(self._layers[0][occurrences], value)
        for layer in self._layers[1:]:
            marks |= _is(layer[occurrences], value)
        return marks

    def mark_unequal(self, occurrences: Numbers, value: Value) -> Marks:
        """Which occurrences have values, but certainly none in common with this one."""
        first = self._layers[0][occurrences]
        marks = (first > _MORE) & ~_is(first, value)
        for layer in self._layers[1:]:
            marks &= ~_is(layer[occurrences], value)
        return marks

    def mark_absent(self, occurrences: Numbers) -> Marks:
        """Which occurrences have no value."""
        return np.equal(self._layers[0][occurrences], _ABSENT)

    def mark_unknown(self, occurrences: Numbers) -> Marks:
        """Which occurrences have more values than the column keeps."""
        return np.equal(self._layers[0][occurrences], _MORE)


def _is(theirs: NDArray[np.uint64], value: Value) -> Marks:
    if isinstance(value, int):
        return np.equal(theirs, value)
    marks = np.zeros(theirs.size, np.bool_)
    for number in value:
        marks |= theirs == number
    return marks


def extend_column(column: NDArray[Kind], capacity: int) -> NDArray[Kind]:
    """The column, extended with zeros."""
    grown = np.zeros(capacity, column.dtype)
    grown[: column.size] = column
    return grown
