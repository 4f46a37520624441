"""Imports of a command, made quicker: in a short run they take most of the time."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

_PANDAS = "pandas"


@contextmanager
def quick_imports() -> Iterator[None]:
    """Make the imports within quicker: without garbage collection, and Beam without pandas.

    What modules define stays to the end, so that looking for garbage in it finds nothing. Beam
    imports pandas, where it is installed, to let pipelines have data frames as elements; ours have
    none. Whoever needs pandas imports it afterwards as always.
    """
    hidden = _PANDAS not in sys.modules
    if hidden:
        sys.modules[_PANDAS] = None  # type: ignore[assignment]  # its import fails
    gc.disable()
    try:
        yield
    finally:
        if hidden:
            del sys.modules[_PANDAS]
        _keep_what_is_there()
        gc.enable()


@cache
def _keep_what_is_there() -> None:
    """Exempt all objects from collection; once, lest a process of many commands keep garbage."""
    gc.freeze()
