"""A bound on the values of a line of JSON, without decoding it."""

from __future__ import annotations

# Shorter lines decode to less than 100 MB, whatever their content.
HARMLESS = 1024 * 1024
_SEPARATORS = (b",", b"{", b"[")


def has_more_values(line: bytes | bytearray, most: int) -> bool:
    """Whether a long line may have more than `most` values; False for short lines.

    Commas and brackets within texts count, too: a text has one per word at the most, so only a
    line that is far longer than any record exceeds the bound by them.
    """
    return len(line) > HARMLESS and sum(map(line.count, _SEPARATORS)) > most
