"""Replaces what an output folder holds: checks it before, clears it, or publishes new files."""

from __future__ import annotations

import re
from collections.abc import Iterable

from goodgain.pipeline.results.folder import (
    MANIFEST,
    UNFINISHED,
    list_names,
    reason_of,
    unfinished_folder,
)
from goodgain.pipeline.results.links import check_links
from goodgain.pipeline.results.lock import remove_if_empty
from goodgain.pipeline.results.output_kinds import OutputKind, kind_of
from goodgain.transforms.core.errors import GoodGainError, UsageError
from goodgain.transforms.filesystems import create, delete, is_full, join, make_folder, move

_TRIAL = "trial"
_WILDCARD = re.compile(r"[*?[]")


def prepare(folder: str, overwrite: bool, kind: OutputKind) -> None:
    """Make sure that a run, a comparison or a stream can write into a folder.

    With `overwrite` the folder may hold earlier outputs of the same kind, and nothing else. They
    stay until `publish` or `clear` removes them, so a run that fails deletes nothing. Those of
    another kind are more likely the wrong folder than outputs to renew, and a stream's may be gone
    for good.

    Raises:
      UsageError: the folder cannot be listed or created, is not empty without `overwrite`, or
        holds other files.
    """
    if _WILDCARD.search(folder):  # filesystems treat these as patterns, even when they delete
        raise UsageError(
            f"Output folder {folder} must not have *, ? or [ in its name; give another folder."
        )
    check_links(folder)
    names = list_names(folder)
    other = _describe_other(names, kind)
    if names and not overwrite:
        remedy = "" if other else f", or --overwrite to replace the outputs of {kind.name}"
        raise UsageError(
            f"Output folder {folder} is not empty (it holds {names[0]}); give another "
            f"folder{remedy}."
        )
    if other:
        raise UsageError(f"Output folder {folder} holds {other}")
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


def _describe_other(names: Iterable[str], kind: OutputKind) -> str:
    """What a folder holds beside outputs of a kind, and what to do; "" if nothing."""
    other = next((name for name in names if not kind.wrote(name)), None)
    if other is None:
        return ""
    other_kind = kind_of(other)
    if other_kind is None:
        return (
            f"{other}, which no run of goodgain wrote; give another folder, or remove it yourself."
        )
    return (
        f"the outputs of {other_kind.name}, which {kind.name} does not replace; give another "
        "folder, or remove them yourself."
    )


def clear(folder: str) -> None:
    """Delete the outputs of an earlier run in a folder checked by `prepare`."""
    # The manifest first: without it the outputs do not count as finished.
    tops = {_top(name) for name in list_names(folder)} - {UNFINISHED}
    for top in sorted(tops, key=lambda top: (top != MANIFEST, top)):
        delete(join(folder, top))


def publish(folder: str, paths: Iterable[str], kind: OutputKind, area: str = "") -> None:
    """Move files from `.unfinished/` to their final paths, replacing outputs of an earlier run.

    If interrupted at any point, it can be called again: it recognizes files that were already
    moved. It does not move the manifest, and leaves files alone that are of no such outputs.

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
    others = [name for name in list_names(folder) if name not in kept]
    foreign = {name for name in others if not kind.wrote(name)}  # added since `prepare`
    tops = {_top(path) for path in kept | foreign}
    ours = (name for name in others if name not in foreign)
    stale = [name for name in ours if _top(name) not in (UNFINISHED, MANIFEST)]
    for path in sorted({name if _top(name) in tops else _top(name) for name in stale}):
        delete(join(folder, *path.split("/")))


def _top(path: str) -> str:
    return path.split("/")[0]
