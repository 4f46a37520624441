"""Files that a conversion writes."""

from __future__ import annotations

from collections.abc import Iterable
from os.path import realpath

from goodgain.transforms.core.errors import UsageError


def check_outputs(outputs: Iterable[str | None], inputs: Iterable[str | None]) -> None:
    """Make sure that no file is written over one that is read.

    Args:
      outputs, inputs: paths; None = no file.

    Raises:
      UsageError: one would be.
    """
    read = set(map(realpath, filter(None, inputs)))
    for output in filter(None, outputs):
        if realpath(output) in read:
            raise UsageError(f"{output} is read, and would be written over: give another file.")
