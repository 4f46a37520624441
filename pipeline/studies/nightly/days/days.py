"""The days of the nightly job: their names, patterns of their input, folders, and late files.

A day is written to a hidden folder next to its final one. Once complete, the folder is renamed,
which is atomic on a local disk; if the day was published before, the two folders swap names in one
step. Object stores rename file by file, so they cannot do this.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from string import Formatter

from msgspec import Struct

from goodgain.pipeline.results.folder import MANIFEST
from goodgain.pipeline.results.manifest_counts import FileOfRun
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.wording import list_first
from goodgain.transforms.file_listing import list_paths_below
from goodgain.transforms.filesystems import delete, make_absolute, sync

_PLACEHOLDERS = ("date", "year", "month", "day")
_WHOLE_DAYS = ({"date"}, {"year", "month", "day"})
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAY = re.compile(r"date=([0-9]{4}-[0-9]{2}-[0-9]{2})")
_UNFINISHED = re.compile(r"\..+\.unfinished")
_REPLACED = re.compile(r"\.(date=[0-9-]{10})\.replaced")
_AT_FDCWD = -100  # paths are relative to the working directory
_RENAME_EXCHANGE = 2
_SHOWN_FILES = 3


def read_day(written: str) -> date:
    """Parse a day like 2025-03-01.

    Raises:
      UsageError: it is not a day.
    """
    try:
        if _ISO_DAY.fullmatch(written):
            return date.fromisoformat(written)
    except ValueError:
        pass  # like 2025-02-30; the message is the same
    raise UsageError(f"{written!r} is not a day; write it like 2025-03-01.")


def days_between(first: date, last: date) -> Iterator[date]:
    """Every day from the first to the last, inclusive."""
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)


def days_text(days: Sequence[str]) -> str:
    """Days in a few words: the only day, or their number with the first and the last."""
    if len(days) <= 1:
        return "".join(days)
    return f"{len(days)} days, {days[0]} to {days[-1]}"


def check_pattern(pattern: str) -> None:
    """Make sure that an input pattern selects a single day.

    Raises:
      ValueError: it has an unknown placeholder, or does not determine a day.
    """
    try:
        names = {name for _, name, _, _ in Formatter().parse(pattern) if name is not None}
    except ValueError as error:
        raise ValueError(f"cannot be filled in: {error}") from None
    if unknown := names.difference(_PLACEHOLDERS):
        raise ValueError(
            f"has the unknown placeholder {{{min(unknown)}}}; known are {{date}}, {{year}}, "
            "{month} and {day}"
        )
    if not any(whole <= names for whole in _WHOLE_DAYS):
        raise ValueError(
            f"does not name a day: {pattern!r} needs {{date}}, or {{year}}, {{month}} and {{day}}"
        )


def patterns_of(patterns: Sequence[str], day: date) -> list[str]:
    """The patterns of one day's input: `{date}` is 2025-03-01, `{day}` 01."""
    return [
        pattern.format(date=day.isoformat(), year=f"{day:%Y}", month=f"{day:%m}", day=f"{day:%d}")
        for pattern in patterns
    ]


class DayFolders:
    """The days below an output folder."""

    def __init__(self, output: Path) -> None:
        self.output = output

    def published_folder(self, day: date) -> Path:
        """The folder of a published day."""
        return self.output / f"date={day.isoformat()}"

    def unfinished_folder(self, day: date) -> Path:
        """The folder of a day while it is written."""
        return self.output / f".date={day.isoformat()}.unfinished"

    def baseline(self) -> Path:
        """The temporary folder of a baseline of several days."""
        return self.output / ".baseline.unfinished"

    def discard_baseline(self) -> None:
        """Remove the temporary folder of the baseline."""
        delete(str(self.baseline()))

    def list_published_days(self) -> list[date]:
        """The published days, ascending."""
        names = (_DAY.fullmatch(path.name) for path in self.output.glob("date=*"))
        days = (date.fromisoformat(match[1]) for match in names if match)
        return sorted(day for day in days if (self.published_folder(day) / MANIFEST).exists())

    def publish(self, day: date) -> None:
        """Move a complete day to its final folder, and replace what is there."""
        unfinished, published = self.unfinished_folder(day), self.published_folder(day)
        for path in (str(unfinished), *list_paths_below(str(unfinished))):
            sync(path)
        if not published.exists():
            os.rename(unfinished, published)
        elif exchange(unfinished, published):
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
        for path in sorted(self.output.glob(".*")):
            match = _REPLACED.fullmatch(path.name)
            if match and not (self.output / match[1]).exists():
                os.rename(path, self.output / match[1])
            elif match or _UNFINISHED.fullmatch(path.name):
                delete(str(path))
            else:
                continue
            cleaned.append(path.name)
        return cleaned


def exchange(one: Path, other: Path) -> bool:
    """Swap two folders atomically, with Linux's renameat2; False if that is not supported here."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    return bool(rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)


class LateFiles(Struct, frozen=True):
    """Files of a day's input that are new, or have another size, since its run."""

    day: date
    added: tuple[str, ...]
    changed: tuple[str, ...]

    def __str__(self) -> str:
        parts = [
            f"{len(paths)} {what} ({list_first(paths, _SHOWN_FILES)})"
            for paths, what in ((self.added, "added"), (self.changed, "changed"))
            if paths
        ]
        return f"{self.day.isoformat()}: {', '.join(parts)}"


def find_late_files(
    day: date, inputs: Iterable[FileOfRun], files: Sequence[InputFile]
) -> LateFiles | None:
    """The changes in a day's input since its run; None if there are none.

    Files that are gone do not count, since traces are deleted after their retention period.

    Args:
      inputs: what the run read.
      files: what there is now.
    """
    # Some engines' runs have absolute paths in their manifests.
    sizes_at_run = {make_absolute(file.path): file.size for file in inputs}
    sizes = [(file, sizes_at_run.get(make_absolute(file.path))) for file in files]
    added = tuple(file.path for file, size in sizes if size is None)
    changed = tuple(file.path for file, size in sizes if size not in (None, file.size))
    return LateFiles(day, added, changed) if added or changed else None
