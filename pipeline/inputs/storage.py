"""How files are found and opened: on this machine, or on any filesystem that Beam knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from goodgain.transforms.core.files.shard import InputFile, Open


class Storage(Struct, frozen=True):
    """A place where files are.

    Attributes:
      find: lists the files that match patterns, or raises UsageError.
      open: opens one for reading its raw bytes.
    """

    find: Callable[[Sequence[str]], Sequence[InputFile]]
    open: Open
