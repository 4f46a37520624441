"""What native code asks Python: the normal forms of strings that are not plain."""

from __future__ import annotations

import unicodedata

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
_JAMO_THAT_JOIN = (
    *range(0x1161, 0x1176),
    *range(0x11A8, 0x11C3),
)  # these compose by rule, not by table


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
    decompositions = {
        character: unicodedata.decomposition(character)
        for character in keep_assigned("".join(characters))
    }
    joining = set(map(chr, _JAMO_THAT_JOIN))
    for parts in map(str.split, filter(None, decompositions.values())):
        if len(parts) == 2 and not parts[0].startswith("<"):
            joining.add(chr(int(parts[1], 16)))
    return [
        _form(character, bool(decompositions[character]), joining)
        if character in decompositions
        else character
        for character in characters
    ]


def _form(character: str, decomposes: bool, joining: set[str]) -> str | None:
    # Most characters are their own normal form; Hangul syllables recompose from their parts.
    first = unicodedata.normalize("NFKD", character)[0] if decomposes else character
    if unicodedata.combining(first) or first in joining or "\ud800" <= character <= "\udfff":
        return None
    composed = unicodedata.normalize("NFKC", character) if decomposes else character
    return "".join([" " if character.isspace() else character for character in composed.casefold()])
