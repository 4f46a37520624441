"""Pairs two arms by key, and counts the keys left unpaired."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from msgspec import Struct

Key = TypeVar("Key")


class Pairing(Struct, Generic[Key], frozen=True):
    """The pairs of two arms; every key of either arm is counted exactly once.

    Attributes:
      keys: keys of the pairs, ascending, so that the result does not depend on the order of the
        input.
      base, candidate: their values, in the order of `keys`.
      only_in_base, only_in_candidate: number of keys that the other arm lacks, whatever their
        value.
      undefined_in_base, undefined_in_candidate, undefined_in_both: number of keys in both arms with
        a null only in that arm, or in both.
    """

    keys: tuple[Key, ...]
    base: tuple[float, ...]
    candidate: tuple[float, ...]
    only_in_base: int
    only_in_candidate: int
    undefined_in_base: int
    undefined_in_candidate: int
    undefined_in_both: int

    @property
    def n(self) -> int:
        """Pairs."""
        return len(self.keys)


def pair(base: Mapping[Key, float | None], candidate: Mapping[Key, float | None]) -> Pairing[Key]:
    """Pair the values of one metric by key.

    Args:
      base, candidate: values by key, None if the metric is undefined (SPEC 6). Keys are of one
        orderable type, like (conversation_id, turn).
    """
    shared: list[Any] = [key for key in base if key in candidate]
    keys: list[Key] = []
    undefined = {(True, False): 0, (False, True): 0, (True, True): 0}
    for key in sorted(shared):
        missing = (base[key] is None, candidate[key] is None)
        if missing in undefined:
            undefined[missing] += 1
        else:
            keys.append(key)
    return Pairing(
        keys=tuple(keys),
        base=_values(base, keys),
        candidate=_values(candidate, keys),
        only_in_base=len(base) - len(shared),
        only_in_candidate=len(candidate) - len(shared),
        undefined_in_base=undefined[True, False],
        undefined_in_candidate=undefined[False, True],
        undefined_in_both=undefined[True, True],
    )


def _values(arm: Mapping[Key, float | None], keys: list[Key]) -> tuple[float, ...]:
    values = (arm[key] for key in keys)
    return tuple(value for value in values if value is not None)
