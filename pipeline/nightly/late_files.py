"""Input files of a day that were added or changed after its run, as its manifest shows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from msgspec import Struct

from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.filesystems import is_local

_SHOWN = 3


class LateFiles(Struct, frozen=True):
    """Files of a day's input that are new, or have another size, since its run."""

    day: date
    added: tuple[str, ...]
    changed: tuple[str, ...]

    def __str__(self) -> str:
        parts = [
            f"{len(paths)} {what} ({', '.join(paths[:_SHOWN])}"
            f"{', ...' if len(paths) > _SHOWN else ''})"
            for paths, what in ((self.added, "added"), (self.changed, "changed"))
            if paths
        ]
        return f"{self.day.isoformat()}: {', '.join(parts)}"


def late_files(
    day: date, manifest: Mapping[str, Any], files: Sequence[InputFile]
) -> LateFiles | None:
    """The changes in a day's input since its run; None if there are none.

    Files that are gone do not count, since traces are deleted after their retention period.
    """
    sizes_at_run = {absolute(file["path"]): file["size"] for file in manifest["inputs"]}
    sizes = [(file, sizes_at_run.get(absolute(file.path))) for file in files]
    added = tuple(file.path for file, size in sizes if size is None)
    changed = tuple(file.path for file, size in sizes if size not in (None, file.size))
    return LateFiles(day, added, changed) if added or changed else None


def absolute(path: str) -> str:
    """The path made absolute, as some engines' runs have it in their manifests."""
    return os.path.abspath(path) if is_local(path) else path
