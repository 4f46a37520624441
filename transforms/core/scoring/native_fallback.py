"""What native code asks Python: the normal forms of strings that are not plain."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import TypeVar

from goodgain.transforms.core.dedup.keys import id_key
from goodgain.transforms.core.dedup.normalise import (
    normalise_id,
    normalise_query,
    normalise_text,
    normalise_time,
    normalise_type,
    normalise_url,
)
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.unicode_14 import keep_assigned

_BEYOND_THE_BASIC_PLANE = 0x10000
_FIRST_SURROGATE, _BEHIND_SURROGATES = 0xD800, 0xE000  # no text in UTF-8 has them
_JAMO_THAT_JOIN = (
    *range(0x1161, 0x1176),
    *range(0x11A8, 0x11C3),
)  # these compose by rule, not by table

Value = TypeVar("Value")


class Fallback:
    """Handles single strings that native code cannot."""

    def __init__(self, rules: RuleTable) -> None:
        """Normalise by these rules."""
        self._urls, self._stripped = rules.urls, rules.stripped

    def characters(self) -> list[str | None]:
        """Normal forms by code point up to U+FFFF, see `_characters`."""
        return _characters()

    def text(self, text: str) -> str:
        """The normal form of a text."""
        return normalise_text(text)

    def query(self, query: str) -> bytes:
        """The normal form of a query in UTF-8."""
        return normalise_query(query)

    def identifier(self, name: str, value: str) -> tuple[str, str]:
        """The normal form of an id with this name, and its key."""
        normal = normalise_id(value, self._stripped.get(name))
        return normal, id_key(normal)

    def instant(self, text: str) -> int | None:
        """Microseconds since 1970 of a time; None if it is not one."""
        return normalise_time(text)

    def entity_type(self, written: str) -> str:
        """The normal form of a type."""
        return normalise_type(written)

    def url(self, url: str) -> tuple[str, str, list[tuple[str, str]]] | None:
        """Host, path and query pairs; None without any."""
        normal = normalise_url(url, self._urls)
        return None if normal is None else (normal.host, normal.path, list(normal.query))


def _characters() -> list[str | None]:
    """Normal forms by code point up to U+FFFF; None if it may compose with the preceding character.

    A text of characters that never compose is normal if each character is.
    """
    characters = [chr(code) for code in range(_BEYOND_THE_BASIC_PLANE)]
    assigned = keep_assigned("".join(characters))
    decompositions = _differing(assigned, unicodedata.decomposition, "")
    joining = set(map(chr, _JAMO_THAT_JOIN))
    for parts in map(str.split, decompositions.values()):
        if len(parts) == 2 and not parts[0].startswith("<"):
            joining.add(chr(int(parts[1], 16)))
    # Most characters are their own normal form; asking for each of them takes four times as long.
    others = {
        *decompositions,
        *joining.intersection(assigned),
        *_differing(assigned, unicodedata.combining, 0),
        *_differing(assigned, str.isspace, False),
        *(
            one
            for one, folded in zip(assigned, map(str.casefold, assigned), strict=True)
            if folded != one
        ),
    }
    forms: list[str | None] = list(characters)
    for character in others:
        forms[ord(character)] = _form(character, character in decompositions, joining)
    forms[_FIRST_SURROGATE:_BEHIND_SURROGATES] = [None] * (_BEHIND_SURROGATES - _FIRST_SURROGATE)
    return forms


def _differing(
    assigned: str, property_of: Callable[[str], Value], usual: Value
) -> dict[str, Value]:
    """The characters that have another value of a property than most, with that value."""
    pairs = zip(assigned, map(property_of, assigned), strict=True)
    return {character: value for character, value in pairs if value != usual}


def _form(character: str, decomposes: bool, joining: set[str]) -> str | None:
    # Hangul syllables recompose from their parts.
    first = unicodedata.normalize("NFKD", character)[0] if decomposes else character
    if unicodedata.combining(first) or first in joining:
        return None
    composed = unicodedata.normalize("NFKC", character) if decomposes else character
    return "".join([" " if character.isspace() else character for character in composed.casefold()])
