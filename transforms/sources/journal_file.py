"""The journal of a watched folder as a file: loaded whole, appended to line by line."""

from __future__ import annotations

import os
from pathlib import Path

from goodgain.transforms.core.files.atomic_write import atomic_write
from goodgain.transforms.core.streaming.journal import (
    Entry,
    Journal,
    compacted,
    decode_journal,
    encoded,
)

_NAME = "journal.jsonl"
_Identity = tuple[int, int, int]


class JournalFile:
    """The journal in the file `journal.jsonl` of a folder.

    Attributes:
      length: its length in bytes, without a partial last line.
    """

    def __init__(self, folder: str) -> None:
        """Load the journal, or begin an empty one.

        Raises:
          JournalError: a line that is not the last cannot be read.
          OSError: the folder or the file cannot be made or read.
        """
        self._path = Path(folder) / _NAME
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self.load()

    def load(self) -> None:
        """Read the file again; raises as `__init__` does."""
        self._identity = self._found()
        self.journal, self.length = _decoded(self._path)

    @property
    def is_current(self) -> bool:
        """Whether nobody else has appended to the file, or compacted it."""
        return self._found() == self._identity

    def append(self, entry: Entry) -> None:
        """Append an entry and sync it to disk; if this raises, nothing was appended.

        Raises:
          OSError: the disk is full or cannot be written to.
        """
        line = encoded(entry)
        with self._path.open("ab") as file:
            # Remove the partial line that a crash or a full disk left.
            file.truncate(self.length)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
            self._identity = _identity(os.fstat(file.fileno()))
        self.length += len(line)
        self.journal.add(entry)

    def compact(self, watched: str, oldest: int, before: int | None = None) -> None:
        """Remove the first entries, up to one that is still needed.

        A crash leaves either the old file or the new one.

        Args:
          oldest: records emitted with earlier times, in ms, are no longer needed.
          before: files from this position on are needed too; None = only if their records are.

        Raises:
          OSError: the file cannot be written, or the watched folder not be listed.
        """
        journal = compacted(self.journal, oldest, set(os.listdir(watched)), before)
        if journal is self.journal:
            return
        with atomic_write(self._path, self._path.with_name(f".{_NAME}")) as file:
            file.writelines(map(encoded, journal.entries))
            length = file.tell()
        self.journal, self.length, self._identity = journal, length, self._found()

    def _found(self) -> _Identity | None:
        try:
            return _identity(self._path.stat())
        except FileNotFoundError:
            return None


def _identity(status: os.stat_result) -> _Identity:
    # A file that was compacted and has grown again may have the same size.
    return status.st_ino, status.st_size, status.st_mtime_ns


def compact_journal(folder: str, watched: str, horizon_ms: int) -> None:
    """Remove entries that are no longer needed from a folder's journal, which must not be in use.

    Records emitted with times more than `horizon_ms` before the watermark are no longer needed.
    Raises as `JournalFile` and its `compact` do.
    """
    file = JournalFile(folder)
    watermark = file.journal.watermark_state.watermark
    if watermark is not None:
        file.compact(watched, watermark - horizon_ms)


def read_journal(folder: str) -> Journal:
    """Read the journal in a folder, empty if there is none; raises as `JournalFile` does."""
    return _decoded(Path(folder) / _NAME)[0]


def _decoded(path: Path) -> tuple[Journal, int]:
    return decode_journal(path.read_bytes() if path.exists() else b"", str(path))
