"""Why a folder is not the output of a finished run, and what to do."""

from __future__ import annotations

import os
from collections.abc import Collection

from goodgain.pipeline.results.datasets import MEANS
from goodgain.pipeline.results.folder import MANIFEST, UNFINISHED, list_names
from goodgain.pipeline.results.output_kinds import STREAM_OUTPUTS, kind_of
from goodgain.transforms.filesystems import is_local, join

_RUN = "`goodgain run --input FILES --output DIR`"


def describe_missing_manifest(folder: str) -> str:
    """A message about a folder without a manifest.

    Raises:
      UsageError: the folder cannot be listed.
    """
    if is_local(folder) and os.path.isfile(folder):
        return f"{folder} is a file, not the output folder of a run: {_RUN} writes one from traces."
    names = list_names(folder)
    if not names:
        return (
            f"There is no output of a run in {folder}, which is empty or missing; check the path."
        )
    if any(kind_of(name) is STREAM_OUTPUTS for name in names):
        return (
            f"{folder} holds the outputs of a stream, which has no {MANIFEST}, since it goes on: "
            f"{_RUN} over the files that it reads writes what reports, comparisons and gates need."
        )
    if inner := _run_inside(names):
        return (
            f"{folder} is not the output of a run, but holds some: give one, like "
            f"{join(folder, inner)}."
        )
    if any(name.startswith(f"{UNFINISHED}/") for name in names):
        return f"{folder} has no {MANIFEST}: the run that writes there has not finished, or failed."
    return f"{folder} has no {MANIFEST}: it is not the output of a finished run."


def _run_inside(names: Collection[str]) -> str | None:
    """A folder of these files that holds the output of a finished run; None if there is none.

    A manifest alone may be of another program.
    """
    folders = sorted(name.removesuffix(MANIFEST) for name in names if name.endswith(f"/{MANIFEST}"))
    for folder in folders:
        if not folder.startswith(f"{UNFINISHED}/") and any(
            name.startswith(f"{folder}{MEANS.name}/") for name in names
        ):
            return folder.removesuffix("/")
    return None
