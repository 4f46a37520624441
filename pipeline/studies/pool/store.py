"""The folder of a pool: a manifest, and the folder of documents that it names.

A change writes all documents to a new folder beside the old one, replaces the manifest in one step,
and only then deletes the old folder. So an interrupted change has no effect, and people's labels
are never lost.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from msgspec import Struct

from goodgain.pipeline.results.datasets import pool_documents
from goodgain.pipeline.results.folder import UNFINISHED, check_written, write_manifest
from goodgain.pipeline.results.formats import FORMATS
from goodgain.pipeline.results.links import check_links
from goodgain.pipeline.results.lock import LOCK, locked
from goodgain.pipeline.results.manifest import grouped, written_time
from goodgain.pipeline.results.opened_pool import files_of, pool_manifest
from goodgain.pipeline.results.version import goodgain_version
from goodgain.pipeline.settings.option_types import MaxRejected
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.pool.document import PoolDocument
from goodgain.transforms.core.pool.document_rows import (
    content_digest,
    document_digest,
    document_row,
)
from goodgain.transforms.core.pool.files import PoolFiles, read_documents
from goodgain.transforms.filesystems import (
    create,
    delete,
    files_below,
    is_local,
    join,
    make_folder,
    move,
    open_plain,
)

_PREFIX = "documents_"
_OF_CONTENT = ("topics", "documents", "places", "evidence", "judged_for_aspects")
_OF_BUILDING = (
    "conversations", "conversations_without_topic", "results", "weak_documents", "candidates_cut",
)  # fmt: skip


class Pool(Struct, frozen=True):
    """A finished pool."""

    folder: str
    manifest: dict[str, Any]

    @property
    def topic_attribute(self) -> str | None:
        """The attribute that holds the topic; None if each conversation is a topic."""
        value: str | None = self.manifest["topic"]
        return value

    @property
    def preferred(self) -> str | None:
        """The annotator whose labels override those of others, if any."""
        value: str | None = self.manifest["preferred"]
        return value

    @property
    def files(self) -> PoolFiles:
        """The files of its documents."""
        return files_of(self.folder, self.manifest)

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
    return Pool(folder, pool_manifest(folder, open_plain))


def begin_pool(folder: str) -> None:
    """Make sure that a new pool can be written to a folder.

    Leftovers of an interrupted build are ignored: they are documents without a manifest.

    Raises:
      UsageError: the folder is not empty, or holds a symbolic link.
    """
    check_links(folder)
    below = len(folder.rstrip("/")) + 1
    first = {path[below:].partition("/")[0] for path in files_below(folder)}
    if first - {UNFINISHED, LOCK, next_documents(None)}:
        raise UsageError(
            f"Folder {folder} is not empty; name a new one with --output, or add to the pool "
            "there with --update."
        )
    make_folder(folder)


def changing(folder: str, started: datetime) -> AbstractContextManager[None]:
    """Keep others from changing a pool while the block runs; on local disks only.

    Raises:
      LockedError: another process is changing it.
    """
    return locked(Path(folder), started) if is_local(folder) else nullcontext()


def next_documents(pool: Pool | None) -> str:
    """The name of the folder for the documents of a pool's next state."""
    number = 0 if pool is None else int(str(pool.manifest["documents"]).removeprefix(_PREFIX))
    return f"{_PREFIX}{number + 1:04d}"


def publish_pool(
    folder: str, manifest: Mapping[str, Any], paths: Iterable[str], before: Pool | None
) -> Pool:
    """Move new documents into the pool, and make them its content.

    Args:
      paths: the files below `.unfinished/`, relative to the folder.

    Raises:
      GoodGainError: a file is missing.
    """
    new_paths = sorted(paths)
    check_written(folder, new_paths)
    documents = join(folder, str(manifest["documents"]))
    delete(documents)
    make_folder(documents)
    for path in new_paths:
        move(join(folder, UNFINISHED, path), join(folder, path))
    write_manifest(folder, manifest)
    if before is not None:
        delete(join(folder, str(before.manifest["documents"])))
    delete(join(folder, UNFINISHED))
    return Pool(folder, dict(manifest))


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
    file_format = FORMATS[pool.manifest["format"]]
    files = pool.files
    delete(join(pool.folder, UNFINISHED))
    unfinished = join(pool.folder, UNFINISHED, name)
    make_folder(unfinished)
    total = judged_for_aspects = 0

    def rows(path: str) -> Iterator[dict[str, Any]]:
        nonlocal total, judged_for_aspects
        for document in map(change, read_documents(path, open_plain, MemoryBudget(None))):
            total += document_digest(document)
            judged_for_aspects += document.covered(preferred) is not None
            yield document_row(document, preferred)

    parts = [path.rsplit("/", 1)[1] for path in files.paths()]
    for path, part in zip(files.paths(), parts, strict=True):
        with create(join(unfinished, part)) as file:
            file_format.write(pool_documents(name), rows(path), file)
    manifest = {
        **pool.manifest,
        "documents": name,
        "preferred": preferred,
        "digest": content_digest(total, preferred),
        "content": {**pool.manifest["content"], "judged_for_aspects": judged_for_aspects},
    }
    return publish_pool(pool.folder, manifest, [f"{name}/{part}" for part in parts], pool)


def manifest_of(
    *,
    counts: Mapping[str, int],
    before: Mapping[str, Any] | None,
    documents: str,
    format: str,
    shards: int,
    topic: str | None,
    inputs: Mapping[str, Sequence[InputFile]],
    rules_digest: str,
    unit: str,
    started: datetime,
    finished: datetime,
    max_rejected: MaxRejected,
) -> dict[str, Any]:
    """The manifest of a pool after a build or an update."""
    read, rejected = (counts.get(f"records.{name}", 0) for name in ("read", "rejected"))
    runs = {} if before is None else dict(before["runs"])
    for name, files in inputs.items():
        earlier = runs.get(name, {}).get("inputs", [])
        added = [{"path": file.path, "size": file.size} for file in files]
        paths = {file.path for file in files}
        unchanged = [file for file in earlier if file["path"] not in paths]
        runs[name] = {"inputs": [*unchanged, *added]}
    for name, run in runs.items():
        run["conversations"] = counts.get(f"conversations.{name}", 0)
        run["documents"] = counts.get(f"documents.{name}", 0)
        run["only_here"] = counts.get(f"only.{name}", 0)
    preferred = None if before is None else before["preferred"]
    return {
        "kind": "pool",
        "digest": content_digest(counts.get("pool.digest", 0), preferred),
        "topic": topic,
        "documents": documents,
        "format": format,
        "shards": shards,
        "preferred": preferred,
        "runs": dict(sorted(runs.items())),
        "content": {name: counts.get(f"pool.{name}", 0) for name in _OF_CONTENT},
        "last_build": {
            "read": read,
            "rejected": rejected,
            "too_many_rejected": max_rejected.exceeded(rejected, read),
            **{name: counts.get(f"pool.{name}", 0) for name in _OF_BUILDING},
        },
        "label_spans": {
            # Documents with votes of conversations that share an id of this name, and those of them
            # whose votes are far apart (`label_spans`).
            name: {"documents": number, "apart": counts.get(f"apart.{name}", 0)}
            for name, number in grouped(counts, "voted").items()
        },
        "rules_digest": rules_digest,
        "unit": unit,
        "versions": {
            "goodgain": goodgain_version(),
            "python": platform.python_version(),
            "apache-beam": version("apache-beam"),
        },
        "started": written_time(started),
        "finished": written_time(finished),
    }
