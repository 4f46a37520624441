"""Counts the values of a line of JSON without decoding it."""

from __future__ import annotations

import re

# Shorter lines decode to less than 100 MB, whatever their content.
HARMLESS = 1024 * 1024
# Strings are matched as a whole, since commas in them are not separators. Possessive, so that long
# strings take no memory for backtracking; without alternatives, which Python up to 3.11.4 matches
# wrongly when they are repeated possessively.
_TEXT = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+'
_TOKEN = re.compile(_TEXT + rb"|[,{\[]", re.DOTALL)
_SEPARATORS = b",{["
# One match covers this many separators with preceding text, which takes a third of the time.
_AT_ONCE = 1000
_NEITHER = rb'[^",{\[]*+'
_MANY = re.compile(
    rb"(?:%b(?:%b%b)*+[,{\[]){%d}+" % (_NEITHER, _TEXT, _NEITHER, _AT_ONCE), re.DOTALL
)


def has_more_values(line: bytes | bytearray, most: int) -> bool:
    """Whether a long line has more than `most` values; False for short lines."""
    if len(line) <= HARMLESS or sum(map(line.count, (b",", b"{", b"["))) <= most:
        return False
    values = at = 0
    while many := _MANY.match(line, at):
        at = many.end()
        values += _AT_ONCE
        if values > most:
            return True
    for token in _TOKEN.finditer(line, at):
        if line[token.start()] in _SEPARATORS:
            values += 1
            if values > most:
                return True
    return False
