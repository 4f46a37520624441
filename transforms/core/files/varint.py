"""Whole numbers of variable length, seven bits a byte, as Avro and Thrift write them."""

from __future__ import annotations

_MORE, _SEVEN_BITS = 0x80, 0x7F
_MOST_BITS = 70  # in ten bytes, which 64 bits take


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number without sign, and the position after it.

    Raises:
      IndexError: the data ends inside it.
      ValueError: it is longer than 64 bits.
    """
    byte = data[at]
    value, shift = byte & _SEVEN_BITS, 7
    at += 1
    while byte & _MORE:
        byte = data[at]
        value |= (byte & _SEVEN_BITS) << shift
        shift += 7
        at += 1
        if shift > _MOST_BITS:
            raise ValueError("a number is too long")
    return value, at


def read_zigzag(data: bytes, at: int) -> tuple[int, int]:
    """A number whose last bit is its sign, and the position after it; raises as `read_varint`."""
    value, at = read_varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def write_zigzag(number: int) -> bytes:
    """The bytes of a 64-bit number whose last bit is its sign."""
    number = number << 1 if number >= 0 else ~(number << 1)
    groups = bytearray()
    while number & ~_SEVEN_BITS:
        groups.append(number & _SEVEN_BITS | _MORE)
        number >>= 7
    groups.append(number)
    return bytes(groups)
