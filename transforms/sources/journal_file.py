"""The journal of a watched folder as a file: loaded whole, appended to line by line."""

from __future__ import annotations

import os
from pathlib import Path

from goodgain.transforms.core.streaming.journal import Entry, Journal, cut, decode_journal, encoded

_NAME = "journal.jsonl"


class JournalFile:
    """The journal in the file `journal.jsonl` of a folder.

    Attributes:
      journal: the content of the file.
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
        data = self._path.read_bytes() if self._path.exists() else b""
        self.journal, self._length = decode_journal(data, str(self._path))

    @property
    def is_current(self) -> bool:
        """Whether the file has the length that this object left, so nobody else has appended."""
        try:
            return self._path.stat().st_size == self._length
        except FileNotFoundError:
            return self._length == 0

    def append(self, entry: Entry) -> None:
        """Append an entry and sync it to disk; if this raises, nothing was appended.

        Raises:
          OSError: the disk is full or cannot be written to.
        """
        line = encoded(entry)
        with self._path.open("ab") as file:
            # Remove the partial line that a crash or a full disk left.
            file.truncate(self._length)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._length += len(line)
        self.journal.add(entry)


def cut_journal(folder: str, watched: str, horizon_ms: int) -> None:
    """Remove entries that no longer matter from the journal in a folder, which must not be in use.

    Args:
      folder: folder of the journal.
      watched: the watched folder.
      horizon_ms: records emitted with times further than this before the watermark no longer
        matter.

    Raises:
      JournalError: a line that is not the last cannot be read.
      OSError: the journal cannot be read or written, or the watched folder not be listed.
    """
    journal = read_journal(folder)
    watermark = journal.watermark_state.watermark
    if watermark is None:
        return
    entries = cut(journal, watermark - horizon_ms, set(os.listdir(watched)))
    if len(entries) >= len(journal.entries):
        return
    aside = Path(folder) / f".{_NAME}"
    with aside.open("wb") as file:
        file.writelines(map(encoded, entries))
        file.flush()
        os.fsync(file.fileno())
    aside.replace(Path(folder) / _NAME)
    descriptor = os.open(
        folder, os.O_RDONLY
    )  # sync the folder, or the new file may be lost in a crash
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_journal(folder: str) -> Journal:
    """Read the journal in a folder; empty if there is none.

    Raises:
      JournalError: a line that is not the last cannot be read.
      OSError: the file cannot be read.
    """
    path = Path(folder) / _NAME
    data = path.read_bytes() if path.exists() else b""
    return decode_journal(data, str(path))[0]
