"""Files and folders, on a local disk or on another of Beam's filesystems.

Only paths with a scheme, like gs://, need Beam, which takes a second to import.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path
from typing import Any, BinaryIO, cast

_SCHEME = re.compile("[a-zA-Z][-a-zA-Z0-9+.]*://")  # as Beam recognizes it


def is_local(path: str | Path) -> bool:
    """Whether a path is local, rather than on another of Beam's filesystems."""
    return _SCHEME.match(str(path)) is None


def make_absolute(path: str) -> str:
    """The same path from the root; one on another filesystem as it is."""
    return os.path.abspath(path) if is_local(path) else path


def is_full(error: OSError) -> bool:
    """Whether an error means that a disk, or the user's share of it, is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def join(folder: str, *names: str) -> str:
    """The path of something below a folder."""
    if is_local(folder):
        return os.path.join(folder, *names)
    return cast(str, beam_filesystem(folder).join(folder, *names))


def exists(path: str) -> bool:
    """Whether there is a file or folder."""
    if is_local(path):
        return os.path.exists(path)
    return bool(beam_filesystem(path).exists(path))


def open_plain(path: str) -> BinaryIO:
    """Open a file for reading its raw bytes.

    Raises:
      OSError: it cannot be opened.
    """
    if is_local(path):
        return open(path, "rb")
    return cast(BinaryIO, beam_filesystem(path).open(path, compression_type=_no_compression()))


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
    return cast(BinaryIO, beam_filesystem(path).create(path, compression_type=_no_compression()))


def make_folder(folder: str) -> None:
    """Create a folder; failures other than a full disk show when a file is written to it.

    Raises:
      OSError: the disk is full.
    """
    try:
        if is_local(folder):
            os.makedirs(folder)
        else:
            beam_filesystem(folder).mkdirs(folder)
    except OSError as error:  # usually, it exists already
        if is_full(error):
            raise


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
    filesystem = beam_filesystem(source)
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
    filesystem = beam_filesystem(path)
    (match,) = filesystem.match([join(path, "**")])
    below = [found.path for found in match.metadata_list]
    if below:
        filesystem.delete(below)
    if filesystem.exists(path):
        filesystem.delete([path])


def beam_filesystem(path: str) -> Any:
    """Beam's filesystem for a path.

    Raises:
      OSError: there is none.
    """
    from apache_beam.io.filesystems import FileSystems

    try:
        return FileSystems.get_filesystem(path)
    except ValueError as error:  # an unknown scheme, or a library is missing
        raise OSError(str(error)) from None


def _no_compression() -> Any:
    from apache_beam.io.filesystem import CompressionTypes

    return CompressionTypes.UNCOMPRESSED
