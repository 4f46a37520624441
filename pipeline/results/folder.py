"""The output folder of a run: empty before it, and afterwards complete or without a manifest."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from goodgain.pipeline.results.atomic_files import UNFINISHED_SUFFIX, write_whole
from goodgain.pipeline.results.formats import FORMATS
from goodgain.pipeline.results.links import check_links
from goodgain.pipeline.results.lock import remove_if_empty
from goodgain.transforms.core.errors import GoodGainError, UsageError
from goodgain.transforms.filesystems import (
    create,
    delete,
    exists,
    files_below,
    is_full,
    is_local,
    join,
    make_folder,
    move,
    open_plain,
)

MANIFEST = "manifest.json"
REPORT = "report.html"
MEANS_CSV = "means.csv"
ENGINE_LOG = "engine.log"
UNFINISHED = ".unfinished"
_TRIAL = "trial"
_CLAIM = "claim"
DATASETS = (
    "iterations", "conversations", "calls", "duplicates", "means", "outcome_relations", "rejected",
    "rejected_labels", "rejected_outcomes", "late", "live", "warnings", "comparison", "differences",
    "arms", "pool_documents",
)  # fmt: skip
_WILDCARD = re.compile(r"[*?[]")
_SUFFIXES = "|".join(re.escape(file_format.suffix) for file_format in FORMATS.values())
# Paths within the folder that runs write, and so may replace.
_SINGLE = f"(?:{'|'.join(map(re.escape, (MANIFEST, REPORT, MEANS_CSV, ENGINE_LOG)))})"
_OURS = re.compile(
    rf"(?:{'|'.join(DATASETS)})/part-[^/]+(?:{_SUFFIXES})"
    rf"|{_SINGLE}|\.{_SINGLE}{re.escape(UNFINISHED_SUFFIX)}"
    rf"|{re.escape(UNFINISHED)}/.+"
)


def prepare(folder: str, overwrite: bool) -> None:
    """Make sure that a run can write into a folder.

    With `overwrite` the folder may hold the outputs of an earlier run, and nothing else. They stay
    until `publish` or `clear` removes them, so a run that fails deletes nothing.

    Raises:
      UsageError: the folder cannot be listed or created, is not empty without `overwrite`, or
        holds files that no run wrote.
    """
    if _WILDCARD.search(folder):  # filesystems treat these as patterns, even when they delete
        raise UsageError(
            f"Output folder {folder} must not have *, ? or [ in its name; give another folder."
        )
    check_links(folder)
    names = _names_in(folder)
    foreign = [name for name in names if not _OURS.fullmatch(name)]
    if foreign and overwrite:
        raise UsageError(
            f"Output folder {folder} holds {foreign[0]}, which no run of goodgain wrote; "
            "give another folder, or remove it yourself."
        )
    if names and not overwrite:
        raise UsageError(
            f"Output folder {folder} is not empty (it holds {names[0]}); give another folder, or "
            "--overwrite to replace the outputs of an earlier run."
        )
    try:
        delete(join(folder, UNFINISHED))
        # A test file shows early whether the folder is writable.
        with remove_if_empty(folder):
            make_folder(join(folder, UNFINISHED))
            with create(join(folder, UNFINISHED, _TRIAL)) as file:
                file.write(b"")
            delete(join(folder, UNFINISHED))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"Output folder {folder} cannot be written to ({reason_of(error)}); "
            "give another folder."
        ) from None


def claim(folder: str, area: str) -> None:
    """Claim the folder for a run; unfinished files of other runs are deleted.

    Args:
      folder: the output folder, checked by `prepare`.
      area: name of the run's own folder below `.unfinished/`.
    """
    unfinished = join(folder, UNFINISHED)
    delete(unfinished)
    write_file(unfinished, _CLAIM, area.encode())


def check_claim(folder: str, area: str, or_none: bool = False) -> None:
    """Make sure that no other run has begun to write to a folder since `claim`.

    Args:
      or_none: whether a missing claim is accepted.

    Raises:
      GoodGainError: another run has begun.
    """
    check_links(folder)
    claimed = _name_in_claim(folder)
    if area and claimed != area and not (or_none and claimed is None):
        raise GoodGainError(
            f"Another run has begun to write to {folder}, so this one publishes nothing there; "
            "use a separate folder for each run."
        )


def _name_in_claim(folder: str) -> str | None:
    path = join(folder, UNFINISHED, _CLAIM)
    if not exists(path):
        return None
    with open_plain(path) as file:
        return file.read().decode()


def clear(folder: str) -> None:
    """Delete the outputs of an earlier run in a folder checked by `prepare`."""
    # The manifest first: without it the outputs do not count as finished.
    tops = {_top(name) for name in _names_in(folder)} - {UNFINISHED}
    for top in sorted(tops, key=lambda top: (top != MANIFEST, top)):
        delete(join(folder, top))


def check_written(folder: str, paths: Iterable[str], area: str = "") -> None:
    """Make sure that files are below `.unfinished/`, before anything is moved.

    Args:
      paths: final paths of the files, relative to the output folder.

    Raises:
      GoodGainError: a file is missing.
    """
    unfinished = unfinished_folder(folder, area)
    if missing := sorted(set(paths).difference(_names_in(unfinished))):
        raise GoodGainError(f"{join(unfinished, missing[0])} is missing.")


def unfinished_folder(folder: str, area: str = "") -> str:
    """The folder that a run writes to before it publishes: its own below `.unfinished/`."""
    unfinished: str = join(folder, UNFINISHED, *([area] if area else []))
    return unfinished


def publish(folder: str, paths: Iterable[str], area: str = "") -> None:
    """Move files from `.unfinished/` to their final paths, replacing outputs of an earlier run.

    If interrupted at any point, it can be called again: it recognizes files that were already
    moved. It does not move the manifest, and leaves files alone that no run wrote.

    Args:
      paths: the files, relative to it.

    Raises:
      GoodGainError: a file is not where it was written.
      OSError: the disk is full.
    """
    kept = set(paths)
    for path in sorted(kept):
        *folders, name = path.split("/")
        source = join(unfinished_folder(folder, area), *folders, name)
        place = join(folder, *folders, name)
        make_folder(join(folder, *folders))
        try:
            move(source, place)
        except OSError as error:
            if is_full(error):
                raise
            raise GoodGainError(f"{source} cannot be moved to {place}: {error}") from None
    others = [name for name in _names_in(folder) if name not in kept]
    foreign = {name for name in others if not _OURS.fullmatch(name)}  # added since `prepare`
    tops = {_top(path) for path in kept | foreign}
    ours = (name for name in others if name not in foreign)
    stale = [name for name in ours if _top(name) not in (UNFINISHED, MANIFEST)]
    for path in sorted({name if _top(name) in tops else _top(name) for name in stale}):
        delete(join(folder, *path.split("/")))


def _top(path: str) -> str:
    return path.split("/")[0]


def discard_unfinished(folder: str, area: str = "") -> None:
    """Delete the unpublished files of a run, but never those of another run."""
    delete(unfinished_folder(folder, area))
    if _name_in_claim(folder) in (None, area):
        delete(join(folder, UNFINISHED))


def same_folder(one: str, other: str) -> bool:
    """Whether two paths name the same folder."""
    settled = {
        os.path.realpath(path) if is_local(path) else path.rstrip("/") for path in (one, other)
    }
    return len(settled) == 1


def write_file(folder: str, name: str, content: bytes) -> None:
    """Write a small file completely or not at all; the folder is created if needed."""
    make_folder(folder)
    write_whole(join(folder, name), content)


def write_manifest(folder: str, manifest: Mapping[str, Any]) -> None:
    """Write the manifest, which comes last and marks a folder as complete."""
    write_file(folder, MANIFEST, json.dumps(dict(manifest), indent=2).encode() + b"\n")


def _names_in(folder: str) -> list[str]:
    """Relative paths of all files below a folder, sorted; empty if it does not exist.

    Raises:
      UsageError: it cannot be listed.
    """
    prefix = folder.rstrip("/") + "/"
    try:
        paths = files_below(folder)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"Output folder {folder} cannot be listed ({reason_of(error)}); check the path."
        ) from None
    return sorted({path.removeprefix(prefix) for path in paths} - {""})


def reason_of(error: Exception) -> str:
    """The reason of a filesystem error, in one line without a full stop."""
    # Beam's errors hold those of the single files.
    if details := getattr(error, "exception_details", None):
        error = next(iter(details.values()))
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.strip().splitlines()[0].rstrip(".") if text.strip() else type(error).__name__
