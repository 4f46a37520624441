"""Writes files atomically: under a hidden name, synced, then renamed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from goodgain.transforms.core.errors import UsageError, problem_of
from goodgain.transforms.filesystems import create, is_local, move, sync

UNFINISHED_SUFFIX = ".unfinished"


@contextmanager
def replace_atomically(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write, which replaces the one at `path` if the block ends without an error.

    On a local disk the new file then survives even a failure of the machine. If the block raises,
    the old file stays. Until then the new one has a hidden name next to it: a file that a crash
    left there is replaced, and a symbolic link is not followed.
    A device or a pipe, like /dev/null, is written to and never replaced.

    Args:
      path: the file, on any of Beam's filesystems; if it is local, its folder must exist.

    Raises:
      UsageError: it is standard output, which a command's summary goes to.
      OSError: the file cannot be written.
    """
    path = str(path)
    temporary = temporary_name(path)
    if is_local(path) and _is_special(path):
        _refuse_stdout(path)
        with open(path, "wb") as file:
            yield file
    elif is_local(path):
        try:
            Path(temporary).unlink(missing_ok=True)
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        sync(Path(path).parent)
    else:
        with create(temporary) as file:
            yield file
        move(temporary, path)


def _is_special(path: str) -> bool:
    """Whether something exists that is no file or folder, or is the system's own, like a stream."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    place = os.path.realpath(os.path.dirname(path))
    of_system = place == "/dev" or place.startswith("/proc/")
    return of_system or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _refuse_stdout(path: str) -> None:
    """Refuse what is standard output, too: a summary would be mixed into the data."""
    found = os.stat(path)
    try:
        stdout = os.fstat(1)
    except OSError:  # it is closed
        return
    if os.path.samestat(found, stdout) and not stat.S_ISCHR(found.st_mode):
        raise UsageError(
            f"{path} is standard output, where the summary goes: write to a file or a named pipe."
        )


@contextmanager
def report_unwritable(path: str | Path) -> Iterator[None]:
    """Report that a file which the user named cannot be written in the block.

    Raises:
      UsageError: instead of an `OSError`.
    """
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {problem_of(error)}.") from error


@contextmanager
def replace_named(path: str | Path) -> Iterator[BinaryIO]:
    """`replace_atomically` for a file that the user named.

    Raises:
      UsageError: the file cannot be written.
    """
    with report_unwritable(path), replace_atomically(path) as file:
        yield file


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a small file; see `replace_atomically`."""
    with replace_atomically(path) as file:
        file.write(content)


def write_named(path: str | Path, content: bytes) -> None:
    """Write a small file that the user named; see `replace_named`."""
    with replace_named(path) as file:
        file.write(content)


def temporary_name(path: str) -> str:
    """The temporary name of a file in the same folder."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}{UNFINISHED_SUFFIX}"
