"""Rows of tables beside the traces: what joins them, and where an unused one stands."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

RowKey = tuple[str, str]  # kind and value, like ("conversation", "c-1")


class RowPlace(NamedTuple):
    """Where a row stands.

    Attributes:
      file: number of its file, from 0.
      row: number of its line or row, from 1.
    """

    file: int
    row: int


class UnusedRow(Struct, frozen=True, array_like=True):
    """A row that was not used.

    Attributes:
      reason: why, in one sentence, to be followed by the place of `other` and `ending` if there is
        another row.
      payload: what it says, as JSON.
      conversation_id: None if it does not name one.
      other: a row that contradicts it.
    """

    place: RowPlace
    reason: str
    payload: str
    conversation_id: str | None = None
    other: RowPlace | None = None
    ending: str = "."
