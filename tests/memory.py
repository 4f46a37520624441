"""How much memory a piece of work needs, for tests that bound it."""

import tracemalloc
from collections.abc import Callable
from typing import TypeVar

Output = TypeVar("Output")

_ATTEMPTS = 3


def measure_peak(
    work: Callable[..., Output], *arguments: object, limit: float = float("inf")
) -> tuple[int, Output]:
    """The most bytes that `work(*arguments)` holds at once, and what it returns.

    tracemalloc counts what every thread of the process allocates, and tables of the interpreter,
    such as that of interned strings, which are allocated anew when they grow. So what exceeds
    `limit` is measured again: work that needs more does so each time.
    """
    for _ in range(_ATTEMPTS):
        tracemalloc.start()
        try:
            output = work(*arguments)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        if peak < limit:
            break
    return peak, output
