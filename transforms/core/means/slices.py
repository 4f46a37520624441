"""Slices: the attributes that conversations share, as a mapping and as a string key (SPEC 6)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

SliceKey = str


def slice_key(slice_: Mapping[str, str]) -> SliceKey:
    """The attributes that conversations share, as JSON with sorted keys."""
    return msgspec.json.encode(slice_, order="sorted").decode()


def slice_of(key: SliceKey) -> dict[str, str]:
    """The attributes of a slice key; the inverse of `slice_key`."""
    return msgspec.json.decode(key, type=dict[str, str])


def describe_slice(slice_: Mapping[str, str]) -> str:
    """The attributes that conversations share, for people; "" for all conversations.

    Example:
      >>> describe_slice({"market": "de", "arm": ""})
      'market = de, arm = (none)'
    """
    return ", ".join(f"{name} = {value or '(none)'}" for name, value in slice_.items())


EVERYTHING = slice_key({})
