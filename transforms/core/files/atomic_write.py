"""Replaces a local file as a whole, so that a crash leaves either the old one or the new one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_write(path: str | Path, temporary: str | Path) -> Iterator[BinaryIO]:
    """A file to write, which replaces the one at `path` if the block ends without an error.

    It is then durable, even if the machine fails. If the block raises, nothing changes.

    Args:
      path: the file; its folder must exist.
      temporary: temporary path on the same disk; a file left there by a crash is replaced, and a
        symbolic link is not followed.

    Raises:
      OSError: it cannot be written.
    """
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


def sync(path: str | Path) -> None:
    """Wait until a local file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
