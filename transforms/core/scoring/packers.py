"""Chooses the packer that reads: the native one if there is one, else the one in Python."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from goodgain.transforms.core.native import native_module
from goodgain.transforms.core.scoring.native_packing import NativePacker
from goodgain.transforms.core.scoring.packing import Packer, Packing


def packer_for(packing: Packing) -> Packer | NativePacker:
    """The native packer if there is one, else the one in Python."""
    native = native_module()
    return Packer(packing) if native is None else NativePacker(packing, native)


def native_packer(
    packing: Packing, *, sketches: bool = False, all_but: Collection[str] | None = None
) -> Any:
    """The native packer with other output than payloads; None if there is no native part.

    Args:
      sketches: see `NativePacker`.
      all_but: see `NativePacker`.
    """
    native = native_module()
    return native and NativePacker(packing, native, sketches=sketches, all_but=all_but)


def reading_counts(packer: Packer | NativePacker) -> dict[str, int]:
    """By which code a packer's records were read since the last call, as counts of a run."""
    if not isinstance(packer, NativePacker):
        return {"shards.python": 1}
    from_python, packer.from_python = packer.from_python, 0
    return {"shards.native": 1, "records.from_python": from_python}
