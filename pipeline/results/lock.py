"""Locks that let only one job write to a folder; the kernel releases them however a job ends."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TextIO

from goodgain.pipeline.results.links import check_links
from goodgain.transforms.core.errors import GoodGainError, UsageError, problem_of
from goodgain.transforms.filesystems import is_local

LOCK = ".lock"


class LockedError(GoodGainError):
    """Another job holds the lock."""


@contextmanager
def lock_folder(folder: Path, started: datetime) -> Iterator[None]:
    """Hold the lock of a folder without symbolic links while the block runs.

    The lock file stays, unless the job that made it fails. The kernel releases the lock even if the
    job is killed.

    Args:
      folder: an existing folder on a local disk, or on a network disk that supports flock.
      started: start time of the job, for messages to other jobs.

    Raises:
      LockedError: another process holds it.
      UsageError: the folder cannot be written to, or holds a symbolic link.
    """
    check_links(str(folder))
    path = folder / LOCK
    is_new = not path.exists()
    with _open_file(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not _is_at(file, path):  # a job that failed has removed it
                raise BlockingIOError
        except BlockingIOError:
            raise LockedError(
                f"Another job is writing to {folder}{_holder(file)}; nothing was done. "
                "Wait until it ends, or stop it."
            ) from None
        file.truncate(0)
        holder = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "started": started.isoformat(timespec="seconds"),
        }
        file.write(json.dumps(holder) + "\n")
        file.flush()
        try:
            yield
        except BaseException:
            if is_new:
                path.unlink(missing_ok=True)
            raise
        file.truncate(0)


@contextmanager
def lock_output_folder(folder: str) -> Iterator[None]:
    """Keep other runs on this machine from writing to an output folder while the block runs.

    No file is created, and a new folder in which the block leaves nothing goes again. Folders on
    other filesystems, and on disks that do not support it, are not locked; there, runs detect one
    another by their claims, see `results.folder`.

    Raises:
      LockedError: another process is writing to it.
    """
    with remove_if_empty(folder):
        descriptor = _open(folder)
        if descriptor is None:
            yield
            return
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LockedError(
                    f"Another run is writing to {folder}; nothing was done. Wait until it ends, or "
                    "use another folder."
                ) from None
            except OSError:
                pass  # a network disk without such locks
            yield
        finally:
            os.close(descriptor)


@contextmanager
def remove_if_empty(folder: str) -> Iterator[None]:
    """Take a folder away again, and those above it, that the block makes and leaves empty."""
    path = Path(folder)
    new = [place for place in (path, *path.parents) if is_local(folder) and not place.exists()]
    try:
        yield
    finally:
        with suppress(OSError):  # it has files, or was not made
            for place in new:
                place.rmdir()


def _open(folder: str) -> int | None:
    if not is_local(folder):
        return None
    try:
        os.makedirs(folder, exist_ok=True)
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None  # preparing the folder will report the error


def _open_file(path: Path) -> TextIO:
    try:
        return open(path, "a+", encoding="utf-8")
    except OSError as error:
        problem = problem_of(error)
        raise UsageError(
            f"Folder {path.parent} cannot be written to ({problem}); give another folder."
        ) from None


def _is_at(file: TextIO, path: Path) -> bool:
    """Whether a path still names an open file."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


def _holder(file: TextIO) -> str:
    """Which job holds the lock; "" if unknown, as just before that job has written the file."""
    file.seek(0)
    try:
        holder = json.loads(file.read())
        return f" (process {holder['pid']} on {holder['host']}, since {holder['started']})"
    except (ValueError, KeyError, TypeError):
        return ""
