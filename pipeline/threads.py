"""How many threads of native code may read one file."""

from __future__ import annotations

import os

# One thread joins what the others read, so that more of them would wait for it.
_MOST = 4


def usable_threads() -> int:
    """One for each processor core that this process may use, up to four."""
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), _MOST)
    return min(os.cpu_count() or 1, _MOST)
