"""Returns freed memory to the system between the phases of a run."""

from __future__ import annotations


def return_freed_memory() -> None:
    """Return what the process has freed, where its allocator can.

    What a phase has freed lies between what is still used, so that the process would keep it, and
    the large blocks of the next phase come on top.
    """
    import pyarrow as pa  # slow to import

    pa.system_memory_pool().release_unused()
