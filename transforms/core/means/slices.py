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


EVERYTHING = slice_key({})
