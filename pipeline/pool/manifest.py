"""The manifest of a pool: its runs, how it was built, and counts of its content."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Any

from goodgain.pipeline.manifest import written_time
from goodgain.pipeline.options.option_types import MaxRejected
from goodgain.pipeline.version import goodgain_version
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.pool.rows import content_digest

# Prefixes of two counters for each id name: documents with votes of conversations that share the
# id, and those of them whose votes are far apart (`label_spans`).
_VOTED, _APART = "voted.", "apart."
_OF_CONTENT = ("topics", "documents", "places", "evidence")
_OF_BUILDING = (
    "conversations",
    "conversations_without_topic",
    "results",
    "weak_documents",
    "candidates_cut",
)


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
            name.removeprefix(_VOTED): {
                "documents": number,
                "apart": counts.get(_APART + name.removeprefix(_VOTED), 0),
            }
            for name, number in sorted(counts.items())
            if name.startswith(_VOTED)
        },
        "rules_digest": rules_digest,
        "versions": {
            "goodgain": goodgain_version(),
            "python": platform.python_version(),
            "apache-beam": version("apache-beam"),
        },
        "started": written_time(started),
        "finished": written_time(finished),
    }
