"""Files and folders, on a local disk or on another of Beam's filesystems.

Only paths with a scheme, like gs://, need Beam, which takes a second to import.
"""

from __future__ import annotations

import errno
import glob
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO, cast

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.shard import InputFile

HIDDEN = (".", "_")  # first characters of the names of engines' marker files
_NANOS = 1_000_000  # of a millisecond
_SCHEME = re.compile("[a-zA-Z][-a-zA-Z0-9+.]*://")  # as Beam recognizes it


def is_local(path: str | Path) -> bool:
    """Whether a path is local, rather than on another of Beam's filesystems."""
    return _SCHEME.match(str(path)) is None


def is_full(error: OSError) -> bool:
    """Whether an error means that a disk, or the user's share of it, is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def join(folder: str, *names: str) -> str:
    """The path of something below a folder."""
    if is_local(folder):
        return os.path.join(folder, *names)
    return cast(str, _filesystem(folder).join(folder, *names))


def exists(path: str) -> bool:
    """Whether there is a file or folder."""
    if is_local(path):
        return os.path.exists(path)
    return bool(_filesystem(path).exists(path))


def open_plain(path: str) -> BinaryIO:
    """Open a file for reading its raw bytes.

    Raises:
      OSError: it cannot be opened.
    """
    if is_local(path):
        return open(path, "rb")
    return cast(BinaryIO, _filesystem(path).open(path, compression_type=_no_compression()))


def create(path: str) -> BinaryIO:
    """Open a file for writing raw bytes; its folder is created if needed.

    Raises:
      OSError: it cannot be opened.
    """
    if is_local(path):
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        return open(path, "wb")
    return cast(BinaryIO, _filesystem(path).create(path, compression_type=_no_compression()))


def make_folder(folder: str) -> None:
    """Create a folder; failures other than a full disk show when a file is written to it.

    Raises:
      OSError: the disk is full.
    """
    try:
        if is_local(folder):
            os.makedirs(folder)
        else:
            _filesystem(folder).mkdirs(folder)
    except OSError as error:  # usually, it exists already
        if is_full(error):
            raise


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
    (match,) = _filesystem(pattern).match([here + pattern if relative else pattern])
    return [
        InputFile(found.path.removeprefix(here) if relative else found.path, found.size_in_bytes)
        for found in match.metadata_list
    ]


def move(source: str, target: str) -> None:
    """Rename a file, replacing any file there; does nothing if it was already renamed.

    Raises:
      OSError: it cannot be renamed.
    """
    if is_local(source):
        if os.path.exists(source) or not os.path.exists(target):
            sync(source)
            os.replace(source, target)
        return
    filesystem = _filesystem(source)
    try:
        filesystem.rename([source], [target])
    except OSError:
        if not filesystem.exists(target):
            raise
        if filesystem.exists(source):  # some filesystems do not replace files on rename
            delete(target)
            filesystem.rename([source], [target])


def sync(path: str | Path) -> None:
    """Wait until a local file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def delete(path: str) -> None:
    """Delete a file, or everything below a folder and, on local disks, the folder itself.

    Symbolic links are deleted, not followed.

    Raises:
      OSError: it cannot be deleted.
    """
    if is_local(path):
        path = path.rstrip("/")
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)  # does not follow links either
        elif os.path.lexists(path):
            os.unlink(path)
        return
    filesystem = _filesystem(path)
    below = list_files_below(path)
    if below:
        filesystem.delete(below)
    if filesystem.exists(path):
        filesystem.delete([path])


def _filesystem(path: str) -> Any:
    """Beam's filesystem for a path."""
    from apache_beam.io.filesystems import FileSystems

    try:
        return FileSystems.get_filesystem(path)
    except ValueError as error:  # an unknown scheme, or a library is missing
        raise OSError(str(error)) from None


def _no_compression() -> Any:
    from apache_beam.io.filesystem import CompressionTypes

    return CompressionTypes.UNCOMPRESSED
