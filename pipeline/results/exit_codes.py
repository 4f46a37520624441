"""The exit codes of `goodgain`."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of every command; scripts and schedulers rely on them."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    DATA_QUALITY = 3
    REGRESSION = 4
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143
