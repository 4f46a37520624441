"""How many values a line of JSON holds, told without decoding it."""

from __future__ import annotations

import re

# So many bytes decode to less than 100 MB whatever they are.
HARMLESS = 1024 * 1024
# Texts are taken whole, since what stands in them separates nothing. Nothing is tried twice, so
# that a long text takes no memory.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?+|[,{\[]', re.DOTALL)
_SEPARATORS = b",{["


def has_more_values(line: bytes | bytearray, most: int) -> bool:
    """Whether a long line holds more values than `most`; a short one is not looked at."""
    if len(line) <= HARMLESS or sum(map(line.count, (b",", b"{", b"["))) <= most:
        return False
    values = 0
    for token in _TOKEN.finditer(line):
        if line[token.start()] in _SEPARATORS:
            values += 1
            if values > most:
                return True
    return False
