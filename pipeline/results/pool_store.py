"""The folder of a pool: a manifest, and the folder of documents that it names.

A change writes all documents to a new folder beside the old one, replaces the manifest in one step,
and only then deletes the old folder. So an interrupted change has no effect, and people's labels
are never lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.results.datasets import pool_documents
from goodgain.pipeline.results.folder import UNFINISHED, check_written, write_manifest
from goodgain.pipeline.results.formats import FORMATS
from goodgain.pipeline.results.links import check_links
from goodgain.pipeline.results.lock import LOCK, lock_folder
from goodgain.pipeline.results.opened_pool import read_pool_manifest
from goodgain.pipeline.results.pool_manifest import PoolManifest
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.pool.document import PoolDocument
from goodgain.transforms.core.pool.document_rows import (
    content_digest,
    document_digest,
    document_row,
)
from goodgain.transforms.core.pool.files import PoolFiles, read_documents
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.file_listing import list_files_below
from goodgain.transforms.filesystems import (
    create,
    delete,
    is_local,
    join,
    make_folder,
    move,
    open_plain,
)

_PREFIX = "documents_"


class Pool(Struct, frozen=True):
    """A finished pool."""

    folder: str
    manifest: PoolManifest

    @property
    def topic_attribute(self) -> str | None:
        """The attribute that holds the topic; None if each conversation is a topic."""
        return self.manifest.topic

    @property
    def preferred(self) -> str | None:
        """The annotator whose labels override those of others, if any."""
        return self.manifest.preferred

    @property
    def files(self) -> PoolFiles:
        """The files of its documents."""
        return self.manifest.files(self.folder)

    def warnings(self) -> dict[DataWarning, list[str]]:
        """The warnings about the traces of the last build, each with the names of its runs."""
        runs: dict[DataWarning, list[str]] = {}
        for name, built in self.manifest.last_build.by_run.items():
            for warning in built.warnings:
                runs.setdefault(warning, []).append(name)
        return runs

    def documents(self) -> Iterator[PoolDocument]:
        """All documents, topic by topic, in the order in which they were added.

        Raises:
          GoodGainError: a file cannot be read.
        """
        for path in self.files.paths():
            yield from read_documents(path, open_plain, MemoryBudget(None))


def read_pool(folder: str) -> Pool:
    """Open a pool.

    Raises:
      UsageError: the folder is not a pool.
    """
    return Pool(folder, read_pool_manifest(folder, open_plain))


def begin_pool(folder: str) -> None:
    """Make sure that a new pool can be written to a folder.

    Leftovers of an interrupted build are ignored: they are documents without a manifest.

    Raises:
      UsageError: the folder is not empty, or holds a symbolic link.
    """
    check_links(folder)
    below = len(folder.rstrip("/")) + 1
    first = {path[below:].partition("/")[0] for path in list_files_below(folder)}
    if first - {UNFINISHED, LOCK, next_documents(None)}:
        raise UsageError(
            f"Folder {folder} is not empty; name a new one with --output, or add to the pool "
            "there with --update."
        )


def lock_pool(folder: str, started: datetime) -> AbstractContextManager[None]:
    """Keep others from changing a pool while the block runs; on local disks only.

    Raises:
      LockedError: another process is changing it.
    """
    make_folder(folder)
    return lock_folder(Path(folder), started) if is_local(folder) else nullcontext()


def next_documents(pool: Pool | None) -> str:
    """The name of the folder for the documents of a pool's next state."""
    number = 0 if pool is None else int(pool.manifest.documents.removeprefix(_PREFIX))
    return f"{_PREFIX}{number + 1:04d}"


def publish_pool(
    folder: str, manifest: PoolManifest, paths: Iterable[str], before: Pool | None
) -> Pool:
    """Move new documents into the pool, and make them its content.

    Args:
      paths: the files below `.unfinished/`, relative to the folder.

    Raises:
      GoodGainError: a file is missing.
    """
    new_paths = sorted(paths)
    check_written(folder, new_paths)
    documents = join(folder, manifest.documents)
    delete(documents)
    make_folder(documents)
    for path in new_paths:
        move(join(folder, UNFINISHED, path), join(folder, path))
    write_manifest(folder, manifest)
    if before is not None:
        delete(join(folder, before.manifest.documents))
    delete(join(folder, UNFINISHED))
    return Pool(folder, manifest)


def rewrite(
    pool: Pool, change: Callable[[PoolDocument], PoolDocument], preferred: str | None
) -> Pool:
    """Change every document of a pool, file by file.

    Args:
      change: returns the new version of a document, with the same topic and number.
      preferred: the annotator whose labels override those of others.

    Raises:
      GoodGainError: a file cannot be read.
    """
    name = next_documents(pool)
    file_format = FORMATS[pool.manifest.format]
    files = pool.files
    delete(join(pool.folder, UNFINISHED))
    unfinished = join(pool.folder, UNFINISHED, name)
    make_folder(unfinished)
    total = judged_for_aspects = 0

    def rows(path: str) -> Iterator[dict[str, Any]]:
        nonlocal total, judged_for_aspects
        for document in map(change, read_documents(path, open_plain, MemoryBudget(None))):
            total += document_digest(document)
            judged_for_aspects += document.covered_aspects(preferred) is not None
            yield document_row(document, preferred)

    parts = [path.rsplit("/", 1)[1] for path in files.paths()]
    for path, part in zip(files.paths(), parts, strict=True):
        with create(join(unfinished, part)) as file:
            file_format.write(pool_documents(name), rows(path), file)
    manifest = replace(
        pool.manifest,
        documents=name,
        preferred=preferred,
        digest=content_digest(total, preferred),
        content=replace(pool.manifest.content, judged_for_aspects=judged_for_aspects),
    )
    return publish_pool(pool.folder, manifest, [f"{name}/{part}" for part in parts], pool)
