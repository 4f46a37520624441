"""The state of one conversation of a stream: its payloads, and what decisions are based on.

Every access to state is a round trip to the engine. So a payload and the state of its conversation
are one element of a bag: keeping a payload takes one read and one append.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Protocol, TypeVar

from msgspec import Struct

from goodgain.transforms.core.streaming.closing import Conversation

_T = TypeVar("_T")

# Bounds on what is read for each payload. 20 results with text take about 8 KB, so this is enough
# for all payloads of most conversations.
MOST_RECENT_BYTES = 64 * 1024
MOST_RECENT = 64


class Bag(Protocol[_T]):
    """A bag in the state of an engine."""

    def read(self) -> Iterable[_T]:
        """Its elements in any order."""

    def add(self, value: _T) -> None:
        """Add an element."""

    def clear(self) -> None:
        """Remove all elements."""


class Change(Struct, frozen=True, array_like=True):
    """A change of a conversation's state.

    Attributes:
      number: position among the changes in the bag, which has no order.
      has_older: whether there are older payloads, in the other bag.
      payload: the payload that was kept with it; empty if there is none.
    """

    number: int
    conversation: Conversation
    has_older: bool = False
    payload: bytes = b""


class ConversationState:
    """Reads and changes the state of one key while an element or a timer of it is processed.

    Attributes:
      conversation: the current state; None if the conversation is unknown.
    """

    def __init__(self, recent: Bag[Change], older: Bag[bytes]) -> None:
        """Read the current state.

        Args:
          older: payloads that were moved there, so that few bytes are read for each payload.
        """
        self._recent, self._older = recent, older
        self._changes = sorted(recent.read(), key=attrgetter("number"))
        self._size = sum(len(change.payload) for change in self._changes)
        last = self._changes[-1] if self._changes else None
        self.conversation = last.conversation if last else None
        self._has_older = last is not None and last.has_older

    def payloads(self) -> list[bytes]:
        """The kept payloads, in order of arrival as far as the engine keeps it."""
        older = self._older.read() if self._has_older else ()
        return [*older, *self._recent_payloads()]

    def change(self, conversation: Conversation, payload: bytes = b"") -> None:
        """Set the state, and keep a payload if it is not empty."""
        size = self._size + len(payload)
        if self._changes and (size > MOST_RECENT_BYTES or len(self._changes) >= MOST_RECENT):
            self._move_to_older()
        change = Change(len(self._changes), conversation, self._has_older, payload)
        self._recent.add(change)
        self._changes.append(change)
        self._size += len(payload)
        self.conversation = conversation

    def clear(self) -> None:
        """Remove the state and all payloads."""
        if self._has_older:
            self._older.clear()
        self._clear_recent()
        self.conversation, self._has_older = None, False

    def _move_to_older(self) -> None:
        moved = b"".join(self._recent_payloads())
        if moved:
            self._older.add(moved)
            self._has_older = True
        self._clear_recent()

    def _recent_payloads(self) -> list[bytes]:
        return [change.payload for change in self._changes if change.payload]

    def _clear_recent(self) -> None:
        self._recent.clear()
        self._changes, self._size = [], 0
