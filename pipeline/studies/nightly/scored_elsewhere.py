"""Fetches outputs that were written elsewhere, by remote workers or by another job.

Days can be scored elsewhere, for example by a Dataflow template. Their outputs must be complete and
of that day. They are copied, not moved.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from apache_beam.io.filesystem import FileSystem

from goodgain.pipeline.results.folder import MANIFEST, UNFINISHED, read_manifest, reason_of
from goodgain.pipeline.studies.nightly.days.days import absolute, patterns_of
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.filesystems import delete, exists, files_below, join, open_plain


def copy_outputs(scored: str, inputs: Sequence[str], day: date, target: Path) -> None:
    """Copy the outputs of a day to a local folder.

    Args:
      scored: pattern of the folder, with placeholders like `{date}`.
      inputs: patterns of the day's trace files, as used by the job that scored the day.

    Raises:
      GoodGainError: the outputs are not finished, are of other input, or cannot be read.
    """
    (folder,) = patterns_of([scored], day)
    manifest = _manifest(folder, day)
    _check_day(manifest, patterns_of(inputs, day), folder, day)
    fetch(folder, target)
    # A run deletes the manifest first and writes it last: if it is unchanged, so is the rest.
    if _manifest(folder, day) != manifest:
        raise GoodGainError(
            f"The outputs of {day.isoformat()} in {folder} were replaced while they were fetched; "
            "run the day again."
        )


def has_newer_run(scored: str, day: date, published: Mapping[str, Any]) -> bool:
    """Whether a newer run of a day than the published one has finished.

    Args:
      published: manifest of the published day.
    """
    (folder,) = patterns_of([scored], day)
    try:
        started = _manifest(folder, day).get("started")
    except GoodGainError:
        return False
    return isinstance(started, str) and started > published["started"]


def _manifest(folder: str, day: date) -> dict[str, Any]:
    try:
        if exists(join(folder, MANIFEST)):
            return read_manifest(folder)
    except (OSError, ValueError) as error:
        raise GoodGainError(f"{folder} cannot be read ({reason_of(error)}).") from None
    raise GoodGainError(
        f"{day.isoformat()} is not finished yet: {folder} has no {MANIFEST}. The job that scores "
        "the day is still running, or it failed."
    )


def _check_day(
    manifest: Mapping[str, Any], patterns: Iterable[str], folder: str, day: date
) -> None:
    """Make sure that the outputs are of a day's input, by file names only.

    Traces may have been deleted or added since; `late_files` finds the latter.
    """
    # A pattern that names a folder stands for the files directly in it.
    named = [name for one in patterns for name in (absolute(one), f"{absolute(one).rstrip('/')}/*")]
    wanted = [re.compile(FileSystem.translate_pattern(name)) for name in named]
    if "inputs" not in manifest:
        raise GoodGainError(f"{folder} is not the output of a run.")
    for file in manifest["inputs"]:
        if not any(regex.match(absolute(file["path"])) for regex in wanted):
            raise GoodGainError(
                f"The outputs in {folder} are not of {day.isoformat()}: they were made from "
                f"{file['path']}, which the day's `input` does not match."
            )


def fetch(source: str, target: Path) -> None:
    """Copy the outputs of a finished run from any of Beam's filesystems to a local folder.

    Raises:
      GoodGainError: a file cannot be read.
    """
    prefix = source.rstrip("/") + "/"
    try:
        for remote in files_below(source):
            path = remote.removeprefix(prefix)
            if path.startswith(f"{UNFINISHED}/"):  # a run is still writing these
                continue
            local = target / path
            local.parent.mkdir(parents=True, exist_ok=True)
            with open_plain(remote) as file, open(local, "wb") as copy:
                shutil.copyfileobj(file, copy)
    except OSError as error:
        raise GoodGainError(f"{source} cannot be fetched: {error}.") from None


def discard(source: str) -> None:
    """Delete a folder on any of Beam's filesystems with its content, if it exists."""
    try:
        delete(source)
    except OSError as error:
        raise GoodGainError(f"{source} cannot be deleted: {error}.") from None
