"""Writes files atomically: under a hidden name, synced, then renamed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from goodgain.transforms.core.files.replacing import replacing_local

UNFINISHED_SUFFIX = ".unfinished"
_SCHEME = "://"


def is_local(path: str | Path) -> bool:
    """Whether a path is local, rather than on another of Beam's filesystems."""
    return _SCHEME not in str(path)


@contextmanager
def replacing(path: str | Path, aside: str | Path | None = None) -> Iterator[BinaryIO]:
    """A file to write, which replaces the one at `path` if the block ends without an error.

    On local disks it is then durable, even if the machine fails. If the block raises, nothing
    changes.

    Args:
      path: the file, on any of Beam's filesystems; a local folder must exist.
      aside: temporary path; by default a hidden name next to the file.

    Raises:
      OSError: it cannot be written.
    """
    path = str(path)
    aside = hidden(path) if aside is None else str(aside)
    if not is_local(path):
        yield from _replacing_elsewhere(path, aside)
        return
    with replacing_local(path, aside) as file:
        yield file


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a small file; see `replacing`."""
    with replacing(path) as file:
        file.write(content)


def hidden(path: str) -> str:
    """The temporary name of a file in the same folder."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}{UNFINISHED_SUFFIX}"


def _replacing_elsewhere(path: str, aside: str) -> Iterator[BinaryIO]:
    from apache_beam.io.filesystem import CompressionTypes
    from apache_beam.io.filesystems import FileSystems

    from goodgain.pipeline.outputs.folder import move

    with FileSystems.create(aside, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        yield file
    move(aside, path)
