"""Reads the outputs of a finished run."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from itertools import chain, islice
from typing import Any

from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.results.datasets import COLUMNS
from goodgain.pipeline.results.declared_metrics import remember_metrics
from goodgain.pipeline.results.folder import MANIFEST
from goodgain.pipeline.results.formats import FORMATS, report_damage
from goodgain.pipeline.results.manifest_checks import REMEDY, decode_manifest, run_manifest_of
from goodgain.pipeline.results.manifest_model import Declared, RunManifest
from goodgain.pipeline.results.missing_manifest import describe_missing_manifest
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.wording import format_count
from goodgain.transforms.file_listing import find_files_named
from goodgain.transforms.filesystems import exists, join, open_plain

_CONVERSATIONS = "conversations"


def read_manifest(folder: str) -> dict[str, Any]:
    """The manifest of a finished run or comparison, before it is decoded.

    Raises:
      UsageError: it is missing or cannot be read.
    """
    path = join(folder, MANIFEST)
    if not exists(path):
        raise UsageError(describe_missing_manifest(folder))
    with open_plain(path) as file:
        content = file.read()
    try:
        # Not by msgspec, which refuses lone surrogates, as they occur in file names.
        manifest = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{path} cannot be read ({error}): it was changed or cut since the run; run it again."
        ) from None
    if not isinstance(manifest, dict):
        raise UsageError(f"{path} is not a manifest: it was changed since the run; run it again.")
    remember_metrics(decode_manifest(manifest, Declared, folder))
    return manifest


def read_run(folder: str) -> RunManifest:
    """The manifest of a finished run.

    Raises:
      UsageError: it is missing, cannot be read, is that of something else, or a field is missing or
        has another type.
    """
    return run_manifest_of(read_manifest(folder), folder)


def read_dataset(
    folder: str, dataset: str, conversation_ids: Collection[str] | None = None
) -> Iterator[Row]:
    """The rows of a dataset of a finished run, whatever its format.

    Args:
      conversation_ids: only rows of these conversations; None = all.

    Raises:
      UsageError: a file is damaged, or lacks columns; or, after the last row of all, the manifest
        has another number of rows.
    """
    rows = 0
    for file_format in FORMATS.values():
        for path in find_files_named(join(folder, dataset), "part-*" + file_format.suffix):
            with open_plain(path) as file:
                for row in report_damage(file_format.read(file, conversation_ids), path):
                    if not rows:
                        _check_columns(row, dataset, path)
                    rows += 1
                    yield row
    if conversation_ids is None:
        _check_rows(folder, dataset, rows)


def check_conversations(folder: str, manifest: RunManifest) -> None:
    """Make sure that the conversations of a finished run are still there, without reading them.

    Raises:
      UsageError: the run had some, and no file of them is left.
    """
    total = manifest.conversations.total
    if total and not find_files_named(join(folder, _CONVERSATIONS), "part-*"):
        raise UsageError(
            f"{folder}/{_CONVERSATIONS} has no files, but {MANIFEST} counts "
            f"{format_count(total, 'conversation')}: it was removed since the run; run it again."
        )


def read_with_columns(folder: str, dataset: str) -> tuple[tuple[str, ...], Iterator[Row]]:
    """The columns of a dataset in a folder, none if it has no rows, and its rows.

    Raises:
      UsageError: as `read_dataset`, of the rows as they are read.
    """
    rows = read_dataset(folder, dataset)
    first = list(islice(rows, 1))
    columns = tuple(first[0]) if first else ()
    return columns, chain(first, rows)


def read_columns(folder: str, dataset: str) -> tuple[str, ...]:
    """The columns of a dataset in a folder; none if it has no rows."""
    columns, _ = read_with_columns(folder, dataset)
    return columns


def _check_columns(row: Row, dataset: str, path: str) -> None:
    """Make sure that a dataset has the columns that do not depend on the run.

    Raises:
      UsageError: it lacks some.
    """
    if lacking := [name for name in COLUMNS.get(dataset, ()) if name not in row]:
        raise UsageError(f"{path} cannot be used (it has no {', '.join(lacking)}). {REMEDY}")


def _check_rows(folder: str, dataset: str, rows: int) -> None:
    """Make sure that a dataset has as many rows as its manifest says, if it says so.

    Nothing else reveals a dataset that was truncated at the end of a row, or lost a file.

    Args:
      rows: number of rows read.

    Raises:
      UsageError: the number differs.
    """
    if not exists(join(folder, MANIFEST)):
        return
    datasets = read_manifest(folder).get("datasets")
    expected = datasets.get(dataset) if isinstance(datasets, dict) else None
    if expected not in (None, rows):
        raise UsageError(
            f"{folder}/{dataset} has {format_count(rows, 'row')}, but {expected:,} by {MANIFEST}: "
            "it was cut or changed since the run; run it again."
        )
