"""Counts the levels of a Parquet page of version 2: which values are null, and which begin a row.

Their lengths stand in the page's header, and the values begin where they end: with a damaged length
readers take other bytes for values, without a word.
"""

from __future__ import annotations

from goodgain.transforms.core.files.varint import read_varint

_BITS_PER_BYTE = 8


def are_levels(raw: bytes, most: int, values: int) -> bool:
    """Whether these bytes are just the levels of that many values.

    They are runs of equal levels and of packed ones, in groups of eight of which the last may have
    more levels than there are values.

    Args:
      raw: the levels, without a length before them.
      most: the greatest level that the column has; 0 = levels are not written.
    """
    if not most or not values:
        return not raw
    bits = most.bit_length()
    at = seen = 0
    try:
        while seen < values:
            run, at = read_varint(raw, at)
            count = run >> 1
            if run & 1:
                seen += count * _BITS_PER_BYTE
                at += count * bits
            else:
                seen += count
                at += -(-bits // _BITS_PER_BYTE)
                if seen > values:
                    return False
            if not count:
                return False
    except (IndexError, ValueError):
        return False
    return at == len(raw)
