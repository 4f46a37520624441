"""The output folder of a run: empty before it, and afterwards complete or without a manifest."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from goodgain.pipeline.results.atomic_files import write_whole
from goodgain.pipeline.results.links import check_links
from goodgain.transforms.core.errors import GoodGainError, UsageError
from goodgain.transforms.file_listing import list_files_below
from goodgain.transforms.filesystems import delete, exists, is_local, join, make_folder, open_plain

MANIFEST = "manifest.json"
REPORT = "report.html"
MEANS_CSV = "means.csv"
ENGINE_LOG = "engine.log"
UNFINISHED = ".unfinished"
_CLAIM = "claim"


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


def check_written(folder: str, paths: Iterable[str], area: str = "") -> None:
    """Make sure that files are below `.unfinished/`, before anything is moved.

    Args:
      paths: final paths of the files, relative to the output folder.

    Raises:
      GoodGainError: a file is missing.
    """
    unfinished = unfinished_folder(folder, area)
    if missing := sorted(set(paths).difference(list_names(unfinished))):
        raise GoodGainError(f"{join(unfinished, missing[0])} is missing.")


def unfinished_folder(folder: str, area: str = "") -> str:
    """The folder that a run writes to before it publishes: its own below `.unfinished/`."""
    unfinished: str = join(folder, UNFINISHED, *([area] if area else []))
    return unfinished


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


def write_manifest(folder: str, manifest: Struct | Mapping[str, Any]) -> None:
    """Write the manifest, which comes last and marks a folder as complete."""
    write_file(folder, MANIFEST, manifest_json(manifest))


def manifest_json(manifest: Struct | Mapping[str, Any]) -> bytes:
    """A manifest as it is written.

    Not by msgspec, which refuses lone surrogates, as they occur in file names.
    """
    plain = msgspec.to_builtins(manifest, builtin_types=(datetime,))
    return json.dumps(plain, indent=2, default=format_time, allow_nan=False).encode() + b"\n"


def plain_manifest(manifest: Struct) -> dict[str, Any]:
    """A manifest as it is read before it is decoded."""
    plain: dict[str, Any] = json.loads(manifest_json(manifest))
    return plain


def format_time(time: datetime) -> str:
    """A time as text in a manifest."""
    return time.isoformat(timespec="milliseconds")


def list_names(folder: str) -> list[str]:
    """Relative paths of all files below a folder, sorted; empty if it does not exist.

    Raises:
      UsageError: it cannot be listed.
    """
    prefix = folder.rstrip("/") + "/"
    try:
        paths = list_files_below(folder)
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
