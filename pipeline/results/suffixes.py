"""The format of a file that is written, by the end of its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from goodgain.transforms.core.errors import UsageError

_Format = TypeVar("_Format")


def format_of(path: str, formats: Mapping[str, _Format]) -> _Format:
    """The format that the suffix of a path names.

    Args:
      formats: by suffix.

    Raises:
      UsageError: it names none.
    """
    for suffix, file_format in formats.items():
        if path.endswith(suffix):
            return file_format
    *others, last = formats
    raise UsageError(f"The format of {path} is unknown: end it in {', '.join(others)} or {last}.")
