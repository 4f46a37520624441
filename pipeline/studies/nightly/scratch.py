"""The scratch folder: where workers that cannot see the job's own disk write a day.

It lies on any of Beam's filesystems. The finished outputs are copied from there, then deleted.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from goodgain.pipeline.results.folder import UNFINISHED
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.file_listing import list_files_below
from goodgain.transforms.filesystems import delete, open_plain


def fetch(source: str, target: Path) -> None:
    """Copy the outputs of a finished run to a local folder.

    Raises:
      GoodGainError: a file cannot be read.
    """
    prefix = source.rstrip("/") + "/"
    try:
        for remote in list_files_below(source):
            path = remote.removeprefix(prefix)
            if path.startswith(f"{UNFINISHED}/"):  # left by a run that was killed
                continue
            local = target / path
            local.parent.mkdir(parents=True, exist_ok=True)
            with open_plain(remote) as file, open(local, "wb") as copy:
                shutil.copyfileobj(file, copy)
    except OSError as error:
        raise GoodGainError(f"{source} cannot be fetched: {error}.") from None


def discard(source: str) -> None:
    """Delete a folder with its content, if it exists.

    Raises:
      GoodGainError: it cannot be deleted.
    """
    try:
        delete(source)
    except OSError as error:
        raise GoodGainError(f"{source} cannot be deleted: {error}.") from None
