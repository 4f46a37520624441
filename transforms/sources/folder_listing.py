"""Lists the files of a watched folder that are ready to be read (SPEC 2, 7)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

_HIDDEN = (".", "_")
_UNFINISHED = (".tmp", ".temp", ".part", ".partial", ".inprogress", ".crdownload", ".swp", "~")


class FolderFile(Struct, frozen=True, order=True):
    """A complete file in the folder.

    Attributes:
      modified_ms: time of the last change, in milliseconds since the epoch.
    """

    modified_ms: int
    name: str
    size: int


class Listing(Struct, frozen=True):
    """The complete files of a folder that are new or have changed.

    Attributes:
      new: files not yet taken, in order of last change, then name.
      changed: files whose size has changed since they were taken, by name.
    """

    new: tuple[FolderFile, ...]
    changed: tuple[FolderFile, ...]


def list_folder(folder: str, taken: Mapping[str, int], settle_ms: int, now_ms: int) -> Listing:
    """List the complete files directly in a folder, at the time `now_ms`.

    A file is incomplete if its name says so (see `is_complete_name`), or if it was written to in
    the last `settle_ms`.

    Args:
      taken: sizes of the files taken before, by name.

    Raises:
      OSError: the folder does not exist or cannot be listed.
    """
    new, changed = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            if not is_complete_name(entry.name):
                continue
            file = _file(entry)
            # A file with a time in the future is not held back.
            if file is None or 0 <= now_ms - file.modified_ms < settle_ms:
                continue
            if file.name not in taken:
                new.append(file)
            elif taken[file.name] != file.size:
                changed.append(file)
    return Listing(tuple(sorted(new)), tuple(sorted(changed, key=lambda file: file.name)))


def is_complete_name(name: str) -> bool:
    """Whether a file with this name is complete: no leading `.` or `_`, no suffix like `.tmp`."""
    return not name.startswith(_HIDDEN) and not name.lower().endswith(_UNFINISHED)


def _file(entry: os.DirEntry[str]) -> FolderFile | None:
    try:
        if not entry.is_file():
            return None
        status = entry.stat()
    except OSError:
        return None  # deleted since the folder was listed, or a broken link
    return FolderFile(status.st_mtime_ns // 1_000_000, entry.name, status.st_size)
