"""Symbolic links in a folder that is written to: a file written through one would lie elsewhere."""

from __future__ import annotations

import os

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.file_listing import list_paths_below
from goodgain.transforms.filesystems import is_local


def check_links(folder: str) -> None:
    """Make sure that files written into a folder stay in it.

    Raises:
      UsageError: it holds a symbolic link.
    """
    if not is_local(folder):
        return
    for path in list_paths_below(folder):
        if os.path.islink(path):
            raise UsageError(
                f"Folder {folder} holds {path}, a symbolic link; remove it, so that no file "
                "outside the folder is changed."
            )
