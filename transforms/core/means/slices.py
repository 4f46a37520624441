"""Slices: what conversations share, as a mapping and as the text that keys it (SPEC 6)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

SliceKey = str


def slice_key(slice_: Mapping[str, str]) -> SliceKey:
    """The attributes that conversations share, as JSON with its keys sorted."""
    return msgspec.json.encode(slice_, order="sorted").decode()


def slice_of(key: SliceKey) -> dict[str, str]:
    """The attributes that `slice_key` made a key of."""
    return msgspec.json.decode(key, type=dict[str, str])


EVERYTHING = slice_key({})
