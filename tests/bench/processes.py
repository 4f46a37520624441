"""Runs commands and measures their time and memory."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

TURNS = 3  # odd, so that the median is one of the measurements

Key = TypeVar("Key")
Measured = TypeVar("Measured")


@dataclass(frozen=True)
class Cost:
    """The cost of a process: CPU and wall seconds, and its largest resident size in bytes.

    CPU time includes its children; the resident size is that of the largest single process. On
    Linux it is never below the peak of the measuring process at the start of the child.
    """

    cpu: float
    wall: float
    peak_bytes: int


def in_turns(measures: Mapping[Key, Callable[[], Measured]]) -> list[dict[Key, Measured]]:
    """Repeat all measurements in turns, so that other load on the machine affects each alike."""
    return [{key: measure() for key, measure in measures.items()} for _ in range(TURNS)]


def cost_of(
    arguments: list[str],
    environment: Mapping[str, str] | None = None,
    core: int | None = None,
) -> Cost:
    """Run Python with arguments and measure it.

    Args:
      environment: variables in addition to those of this process.
      core: the only processor core that it may use; None = any.

    Raises:
      RuntimeError: the process ended with an error.
    """
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        preexec_fn=None if core is None else partial(os.sched_setaffinity, 0, {core}),
    )
    errors = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"{' '.join(arguments)} failed: {errors[-2000:]}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024)


def cost_of_run(
    trace: Path,
    output: Path,
    *options: str,
    environment: Mapping[str, str] | None = None,
    core: int | None = None,
) -> Cost:
    """Cost of `goodgain run` over one file."""
    return cost_of(
        [
            *("-m", "goodgain", "run", "--input", str(trace)),
            *("--output", str(output), "--overwrite", *options),
        ],
        environment,
        core,
    )
