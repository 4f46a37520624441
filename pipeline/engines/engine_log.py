"""Redirects an engine's warnings to a file, so as not to disturb the live view of a stream."""

from __future__ import annotations

import io
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

LOG = "engine.log"


@contextmanager
def engine_log(path: Path) -> Iterator[None]:
    """While the block runs, write warnings, and stderr of other threads, to a new file.

    If the block raises, they still go to the file, since workers of a dead engine log for a while.
    """
    logger = logging.getLogger()
    level, handlers, stderr = logger.level, list(logger.handlers), sys.stderr
    file = path.open("w", buffering=1, encoding="utf-8")  # line by line: the process may be killed
    handler = logging.StreamHandler(file)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.handlers[:] = [handler]
    logger.setLevel(logging.WARNING)
    # Workers also print to stderr the tracebacks that they log.
    sys.stderr = _OnlyMainThread(stderr, file)
    yield
    sys.stderr = stderr
    logger.handlers[:] = handlers
    logger.setLevel(level)
    file.close()


class _OnlyMainThread(io.TextIOBase):
    """Writes text of the main thread to one stream, that of other threads to another."""

    def __init__(self, main: TextIO, others: TextIO) -> None:
        super().__init__()
        self._main = main
        self._others = others

    def write(self, text: str) -> int:
        return self._stream().write(text)

    def flush(self) -> None:
        self._stream().flush()

    def isatty(self) -> bool:
        return self._stream().isatty()

    def _stream(self) -> TextIO:
        is_main = threading.current_thread() is threading.main_thread()
        return self._main if is_main else self._others
