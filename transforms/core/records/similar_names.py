"""Suggests the known name that an unknown name probably means."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_CLOSE = 0.82


def find_similar_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that differs little, or only in case and separators."""
    plain = fold_name(name)
    folded = {fold_name(candidate): candidate for candidate in known}
    similar = get_close_matches(plain, folded, n=1, cutoff=_CLOSE)
    # To difflib, swapped letters are two mistakes, too many for a short name.
    similar += [candidate for candidate in folded if sorted(candidate) == sorted(plain)]
    return folded[similar[0]] if similar else None


def fold_name(name: str) -> str:
    """A name in lower case without separators: `conversationId` equals `conversation_id`."""
    return "".join(character for character in name.casefold() if character.isalnum())
