"""Decides which deliveries of a conversation count, and in what order (SPEC 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.records.search_call import SEARCH

BEFORE_ALL_TIME = -(2**63)


class EncodingsNeededError(Exception):
    """The order depends on the records' canonical encodings, which were not kept."""


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

    def usages(self) -> list[CallFingerprint]:
        """The records of documents opened or cited in the last turn, in order."""
        return [call for call in self._of_last_turn() if call.action != SEARCH]

    def _of_last_turn(self) -> list[CallFingerprint]:
        last = self.last_turn
        return [call for call in self.calls if call.turn == last]

    def attributes(self) -> dict[str, str]:
        """The last non-blank value of each attribute, sorted by name (SPEC 6)."""
        return merged_attributes(call.attributes for call in self.calls)


def merged_attributes(several: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The last non-blank value of each attribute of ordered calls, sorted by name."""
    merged: dict[str, str] = {}
    for attributes in several:
        merged.update({name: value for name, value in attributes.items() if value.strip()})
    return dict(sorted(merged.items()))


def deliver(calls: Iterable[CallFingerprint]) -> Delivered:
    """Remove redeliveries and sort the rest, whatever the order of arrival.

    Raises:
      EncodingsNeededError: an order depends on canonical encodings, and one is missing.
    """
    by_identity: dict[object, list[CallFingerprint]] = {}
    for call in calls:
        by_identity.setdefault(_identity(call), []).append(call)
    winners = []
    redelivered = conflicting = 0
    for deliveries in by_identity.values():
        winner = deliveries[0]
        if len(deliveries) > 1:
            winner = _winner(deliveries)
            redelivered += len(deliveries) - 1
            conflicting += sum(call.record_digest != winner.record_digest for call in deliveries)
        winners.append(winner)
    return Delivered(_in_order(winners), redelivered, conflicting)


def tied(calls: Sequence[CallFingerprint]) -> list[int]:
    """The indexes of deliveries whose order depends on canonical encodings.

    They have equal identity and time, or equal places in the order of SPEC 3, but differ.
    """
    groups: dict[object, list[int]] = {}
    for at, call in enumerate(calls):
        groups.setdefault((_identity(call), _time(call)), []).append(at)
        groups.setdefault(_order_key(call), []).append(at)
    return sorted(
        {
            at
            for group in groups.values()
            if len({calls[at].record_digest for at in group}) > 1
            for at in group
        }
    )


def _identity(call: CallFingerprint) -> object:
    if call.record_id is not None:
        return call.record_id
    if call.call is not None:
        return (call.turn, call.iteration, call.call, call.action)
    return call.record_digest


def _winner(deliveries: Sequence[CallFingerprint]) -> CallFingerprint:
    latest = max(map(_time, deliveries))
    latest_calls = [call for call in deliveries if _time(call) == latest]
    if len({call.record_digest for call in latest_calls}) == 1:
        return latest_calls[0]
    return max(latest_calls, key=_encoding)


def _in_order(calls: list[CallFingerprint]) -> list[CallFingerprint]:
    calls.sort(key=_order_key)
    calls_by_key = Counter(map(_order_key, calls))
    if len(calls_by_key) < len(calls):  # only calls that share a place need their encodings
        calls.sort(
            key=lambda call: (
                _order_key(call),
                _encoding(call) if calls_by_key[_order_key(call)] > 1 else b"",
            )
        )
    return calls


def _order_key(call: CallFingerprint) -> tuple[int, int, int, int, bool, str]:
    return (
        call.turn,
        call.iteration,
        call.call or 0,
        _time(call),
        call.record_id is not None,
        call.record_id or "",
    )


def _time(call: CallFingerprint) -> int:
    return BEFORE_ALL_TIME if call.timestamp is None else call.timestamp


def _encoding(call: CallFingerprint) -> bytes:
    if call.encoding is None:
        raise EncodingsNeededError
    return call.encoding
