"""Characters for tests that put each of them in every place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

# Ideographs, Hangul syllables, old scripts, private use and what no version of Unicode assigns:
# hundreds and thousands beside each other that are read alike.
ALIKE = (
    *(range(0x3400, 0xA000), range(0xAC00, 0xD7A4), range(0xE000, 0xF900)),
    *(range(0x12000, 0x13430), range(0x13460, 0x16000), range(0x17000, 0x1AFF0)),
    *(range(0x1BCB0, 0x1CC00), range(0x1DAB0, 0x1DF00), range(0x1FC00, 0x20000)),
    *(range(0x20000, 0x2F800), range(0x30000, 0xE0000), range(0xE1000, 0x110000)),
)
TOGETHER = 64


def groups(codes: Sequence[int]) -> Iterator[str]:
    """Every character, each alone but those that are ALIKE, so that none can hide another."""
    together = ""
    for code in codes:
        if not any(code in block for block in ALIKE):
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
