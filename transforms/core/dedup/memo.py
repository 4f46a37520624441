"""A bounded cache of a function, for fingerprints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_MOST_ENTRIES = 100  # more would leave no room in the processor's cache


class Memo(dict[_Key, _Value]):
    """Caches a function; emptied when it has grown large.

    With `lru_cache`, what is found takes longer, and fingerprints take as long all the same.
    """

    def __init__(self, function: Callable[[_Key], _Value]) -> None:
        self._function = function

    def __missing__(self, key: _Key) -> _Value:
        if len(self) >= _MOST_ENTRIES:
            self.clear()
        value = self[key] = self._function(key)
        return value
