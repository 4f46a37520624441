"""Decides which deliveries of a conversation count, and in what order (SPEC 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.records.search_call import SEARCH
from goodgain.transforms.core.scoring.settings import Scoring

if TYPE_CHECKING:
    from goodgain.transforms.core.scoring.sketches import CallSketch

BEFORE_ALL_TIME = -(2**63)


class Delivered(Struct, frozen=True):
    """A conversation's calls without redeliveries.

    Attributes:
      calls: the usable records in the order of SPEC 3.
      redelivered: number of deliveries beyond the one that counts.
      conflicting: number of these that differ from the one that counts.
    """

    calls: list[CallFingerprint]
    redelivered: int
    conflicting: int

    @property
    def last_turn(self) -> int | None:
        """The greatest turn or turn_count; None without calls."""
        return max((max(call.turn, call.turn_count or 0) for call in self.calls), default=None)

    def searches(self) -> list[CallFingerprint]:
        """The search calls of the last turn, in order."""
        return [call for call in self._of_last_turn() if call.action == SEARCH]

    def scored_searches(self, scoring: Scoring) -> list[CallFingerprint]:
        """Those search calls of the last turn that count, in order."""
        return [call for call in self.searches() if not (scoring.without_failed and call.failed)]

    def usages(self) -> list[CallFingerprint]:
        """The records of documents opened or cited in the last turn, in order."""
        return [call for call in self._of_last_turn() if call.action != SEARCH]

    def _of_last_turn(self) -> list[CallFingerprint]:
        last = self.last_turn
        return [call for call in self.calls if call.turn == last]

    def outcomes(self) -> dict[str, float]:
        """The last value of each outcome in the last turn (SPEC 12)."""
        return {
            name: value for call in self._of_last_turn() for name, value in call.outcomes.items()
        }

    def attributes(self) -> dict[str, str]:
        """The last non-blank value of each attribute, sorted by name (SPEC 6)."""
        return merge_attributes(call.attributes for call in self.calls)


def merge_attributes(several: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The last non-blank value of each attribute of ordered calls, sorted by name."""
    merged: dict[str, str] = {}
    for attributes in several:
        merged.update({name: value for name, value in attributes.items() if value.strip()})
    return dict(sorted(merged.items()))


def deliver(calls: Iterable[CallFingerprint]) -> Delivered:
    """Remove redeliveries and sort the rest, whatever the order of arrival."""
    by_identity: dict[object, list[CallFingerprint]] = {}
    for call in calls:
        by_identity.setdefault(identity_of(call), []).append(call)
    winners = []
    redelivered = conflicting = 0
    for deliveries in by_identity.values():
        winner = deliveries[0]
        if len(deliveries) > 1:
            winner = max(deliveries, key=_precedence)
            redelivered += len(deliveries) - 1
            conflicting += sum(call.record_digest != winner.record_digest for call in deliveries)
        winners.append(winner)
    return Delivered(sorted(winners, key=_place), redelivered, conflicting)


def identity_of(call: CallFingerprint | CallSketch) -> object:
    """The identity of a record in its conversation, which its redeliveries share (SPEC 3)."""
    if call.record_id is not None:
        return call.record_id
    if call.call is not None:
        return (call.turn, call.iteration, call.call, call.action)
    return call.record_digest


def _precedence(call: CallFingerprint) -> tuple[int, bytes]:
    """Of several deliveries, that with the greatest counts."""
    return _time(call), call.record_digest


def _place(call: CallFingerprint) -> tuple[int, int, int, int, bool, str, bytes]:
    """What calls of a conversation are ordered by."""
    return (
        call.turn,
        call.iteration,
        call.call or 0,
        _time(call),
        call.record_id is not None,
        call.record_id or "",
        call.record_digest,
    )


def _time(call: CallFingerprint) -> int:
    return BEFORE_ALL_TIME if call.timestamp is None else call.timestamp
