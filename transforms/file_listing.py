"""Which files there are, below a folder or for a pattern."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.filesystems import beam_filesystem, is_local, join

HIDDEN = (".", "_")  # first characters of the names of engines' marker files
_NANOS = 1_000_000  # of a millisecond


def list_files_below(folder: str) -> list[str]:
    """The paths of all files below a folder; none if it does not exist.

    Links to folders are not followed.

    Raises:
      OSError: it is on another filesystem and cannot be listed.
    """
    if not is_local(folder):
        return [file.path for file in find_matching(join(folder, "**"))]
    return [path for path in list_paths_below(folder) if _is_file(path)]  # no dangling link


def list_paths_below(folder: str) -> Iterator[str]:
    """The paths of all files, folders and links below a local folder; links are not followed."""
    for place, folders, names in os.walk(folder.rstrip("/") or folder[:1]):
        for name in (*folders, *names):
            yield os.path.join(place, name)


class LocalFile(Struct, frozen=True):
    """A file in a folder on this machine.

    Attributes:
      modified_ms: time of the last change, in milliseconds since 1970 UTC.
      is_regular: whether it is no named pipe or device.
    """

    name: str
    size: int
    modified_ms: int
    is_regular: bool


def files_in(folder: str, keep: Callable[[str], bool]) -> Iterator[LocalFile]:
    """The files directly in a local folder whose names are to be kept, in no particular order.

    Raises:
      OSError: the folder does not exist or cannot be listed.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            if not keep(entry.name):
                continue
            try:
                found = entry.stat()
            except OSError:
                continue  # deleted since the folder was listed, or a broken link
            if not stat.S_ISDIR(found.st_mode):
                modified_ms = found.st_mtime_ns // _NANOS
                is_regular = stat.S_ISREG(found.st_mode)
                yield LocalFile(entry.name, found.st_size, modified_ms, is_regular)


def find_files_named(folder: str, pattern: str) -> list[str]:
    """The paths of the files directly in a folder whose name matches a pattern, sorted.

    Args:
      folder: may be missing; not a pattern.
      pattern: `*` stands for any characters.

    Raises:
      OSError: it is on another filesystem and cannot be listed.
    """
    if not is_local(folder):
        return sorted(file.path for file in find_matching(join(folder, pattern)))
    try:
        found = list(files_in(folder, lambda name: fnmatchcase(name, pattern)))
    except OSError:
        return []
    return sorted(join(folder, file.name) for file in found)


def find_files(pattern: str) -> list[InputFile]:
    """The files that a path or a pattern stands for, sorted by path; empty if there are none.

    Args:
      pattern: a file; or a folder, for the files directly in it, except those whose name begins
        with a dot or an underscore; or a pattern, in which `*` and `?` match within the name of a
        folder or file, and `**` matches any folders.

    Raises:
      UsageError: one is a named pipe, which can neither be read twice nor from its middle.
      OSError: it is on another filesystem and cannot be listed.
    """
    if not is_local(pattern):
        # Object stores have no folders; a prefix with files under it counts as one.
        found = find_matching(pattern) or _visible(find_matching(pattern.rstrip("/") + "/*"))
        return sorted(found, key=lambda file: file.path)
    if os.path.isdir(pattern):
        files = [
            InputFile(join(pattern, file.name), file.size) for file in files_in(pattern, is_visible)
        ]
    else:
        # A file counts even if its name looks like a pattern.
        paths = (
            [pattern]
            if _is_file(pattern)
            else glob.glob(pattern, recursive=True, include_hidden=True)
        )
        files = [InputFile(path, os.path.getsize(path)) for path in paths if _is_file(path)]
    for file in files:
        if Path(file.path).is_fifo():
            raise UsageError(
                f"{file.path} is a pipe, where a file is needed: write its content to a file, and "
                "give the path of that."
            )
    return sorted(files, key=lambda file: file.path)


def is_visible(name: str) -> bool:
    """Whether the name of a file is none of those that engines give to their own files."""
    return not name.startswith(HIDDEN)


def _is_file(path: str) -> bool:
    """Whether there is something other than a folder, like a file or a named pipe."""
    return os.path.exists(path) and not os.path.isdir(path)


def _visible(files: list[InputFile]) -> list[InputFile]:
    return [file for file in files if is_visible(os.path.basename(file.path))]


def find_matching(pattern: str) -> list[InputFile]:
    """The files that match a pattern of Beam, which has one syntax for all filesystems.

    Raises:
      OSError: they cannot be listed.
    """
    # Beam finds nothing if the first folder of a relative pattern has a wildcard.
    here = os.path.join(os.curdir, "")
    relative = is_local(pattern) and not os.path.isabs(pattern) and not pattern.startswith(here)
    (match,) = beam_filesystem(pattern).match([here + pattern if relative else pattern])
    return [
        InputFile(found.path.removeprefix(here) if relative else found.path, found.size_in_bytes)
        for found in match.metadata_list
    ]
