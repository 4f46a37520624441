"""Runs as arguments: of `compare`, and as run and baseline of a gate."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from goodgain.pipeline.api.result import Run
from goodgain.transforms.core.errors import UsageError

RunOrFolder: TypeAlias = "Run | str | Path"


def folder_of(run: RunOrFolder | Any, scratch: str, name: str) -> str:
    """The folder of a run's outputs; those in memory are first written below `scratch`.

    Raises:
      UsageError: it is neither a run nor a path.
    """
    if isinstance(run, str | Path):
        return str(run)
    if not isinstance(run, Run):
        raise UsageError(
            f"A run is needed, but what was given is of type {type(run).__name__}: give what "
            "`goodgain.evaluate` or `goodgain.load` returns, or the output folder of a run."
        )
    place = Path(scratch) / name
    run.write_datasets(place)
    return str(place)
