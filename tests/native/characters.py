"""Characters for tests that put each of them in every place."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice

TOGETHER = 64


def is_plain(character: str) -> bool:
    """Whether normalising leaves the character as it is.

    It does so for thousands in a row: ideographs, Hangul syllables, old scripts, most signs,
    private use, and what no version of Unicode assigns.
    """
    return (
        unicodedata.category(character) in ("Lo", "So", "Co", "Cn")
        and unicodedata.normalize("NFKC", character) == character == character.casefold()
    )


def groups(codes: Iterable[int]) -> Iterator[str]:
    """Every character, each alone but the plain ones, so that none can hide another."""
    together = ""
    for code in codes:
        if not is_plain(chr(code)):
            yield chr(code)
            continue
        together += chr(code)
        if len(together) == TOGETHER:
            yield together
            together = ""
    if together:
        yield together


def split_into_batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """The texts in lists of a size."""
    rest = iter(texts)
    while some := list(islice(rest, size)):
        yield some
