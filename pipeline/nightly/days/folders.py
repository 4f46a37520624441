"""The folders of days below the output folder, each published whole or not at all.

A day is written to a hidden folder next to its final one. Once complete, the folder is renamed,
which is atomic on a local disk; if the day was published before, the two folders swap names in one
step. Object stores rename file by file, so they cannot do this.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from goodgain.pipeline.outputs.folder import MANIFEST
from goodgain.transforms.core.files.atomic_write import sync
from goodgain.transforms.filesystems import delete

_DAY = re.compile(r"date=([0-9]{4}-[0-9]{2}-[0-9]{2})")
_UNFINISHED = re.compile(r"\..+\.unfinished")
_REPLACED = re.compile(r"\.(date=[0-9-]{10})\.replaced")
_AT_FDCWD = -100  # paths are relative to the working directory
_RENAME_EXCHANGE = 2


class DayFolders:
    """The days below an output folder."""

    def __init__(self, output: Path) -> None:
        self.output = output

    def published_folder(self, day: date) -> Path:
        """The folder of a published day."""
        return self.output / f"date={day.isoformat()}"

    def unfinished(self, day: date) -> Path:
        """The folder of a day while it is written."""
        return self.output / f".date={day.isoformat()}.unfinished"

    def baseline(self) -> Path:
        """The temporary folder of a baseline of several days."""
        return self.output / ".baseline.unfinished"

    def rescored(self, day: date) -> Path:
        """The temporary folder of a day that is scored again for a baseline."""
        return self.baseline().with_name(".again.unfinished") / self.published_folder(day).name

    def discard_baseline(self) -> None:
        """Remove the temporary folders of the baseline."""
        for path in (self.baseline(), self.rescored(date.min).parent):
            delete(str(path))

    def published_days(self) -> list[date]:
        """The published days, ascending."""
        names = (_DAY.fullmatch(path.name) for path in self._paths())
        days = (date.fromisoformat(match[1]) for match in names if match)
        return sorted(day for day in days if (self.published_folder(day) / MANIFEST).exists())

    def publish(self, day: date) -> None:
        """Move a complete day to its final folder, and replace what is there."""
        unfinished, published = self.unfinished(day), self.published_folder(day)
        for path in _with_contents(unfinished):
            sync(path)
        if not published.exists():
            os.rename(unfinished, published)
        elif exchanged(unfinished, published):
            sync(self.output)
            delete(str(unfinished))
        else:
            replaced = self.output / f".{published.name}.replaced"
            os.rename(published, replaced)
            os.rename(unfinished, published)
            sync(self.output)
            delete(str(replaced))
        sync(self.output)

    def repair(self) -> list[str]:
        """Clean up after a job that was stopped; returns the names of the folders it found."""
        cleaned = []
        for path in self._paths():
            match = _REPLACED.fullmatch(path.name)
            if match and not (self.output / match[1]).exists():
                os.rename(path, self.output / match[1])
            elif match or _UNFINISHED.fullmatch(path.name):
                delete(str(path))
            else:
                continue
            cleaned.append(path.name)
        return cleaned

    def _paths(self) -> list[Path]:
        return sorted(self.output.iterdir()) if self.output.exists() else []


def exchanged(one: Path, other: Path) -> bool:
    """Swap two folders atomically, with Linux's renameat2; False if that is not supported here."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    return bool(rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)


def _with_contents(folder: Path) -> Iterator[Path]:
    """The folder and everything in it."""
    yield folder
    yield from folder.rglob("*")
