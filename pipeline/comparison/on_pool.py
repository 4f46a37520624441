"""`goodgain compare --pool`: both arms on one pool, however they were scored (SPEC 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from goodgain.pipeline.comparison.scored_again import score_again
from goodgain.pipeline.options.opened_pool import pool_manifest
from goodgain.pipeline.outputs.folder import same_folder
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.filesystems import open_plain

Manifests = Mapping[str, Mapping[str, Any]]


def score_on_pool(
    manifests: Manifests, pool: str, scratch: Path, say: Callable[[str], None]
) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """For each run's folder, its outputs scored with a pool, and their manifest.

    A run that was scored with this state of the pool is used as it is. Any other is scored again
    from its traces, under the name of the run in the pool that has the same files.

    Args:
      manifests: manifests of the runs, by folder.
      scratch: folder for runs that are scored again; their own folders stay unchanged.
      say: called with progress messages.

    Raises:
      UsageError: the pool does not exist, or a run cannot be scored again.
    """
    pool_state = pool_manifest(pool, open_plain)
    on_pool: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for number, (run, manifest) in enumerate(manifests.items()):
        if manifest.get("pool", {}).get("digest") == pool_state["digest"]:
            on_pool[run] = run, manifest
            continue
        if "qrels" in manifest:
            raise UsageError(
                f"{run} was scored with qrels; labels come either from those or from a pool: leave "
                "--pool out, or run it again with the pool."
            )
        name = run_name_of(manifest["inputs"], pool_state["runs"])
        say(f"Scoring {run} again with {pool}{f' as its run {name}' if name else ''} ...")
        folder = scratch / str(number)
        rescored = score_again(run, manifest, folder, {"pool": pool, "run_name": name})
        parameters = {**rescored["parameters"], "output": manifest["parameters"]["output"]}
        on_pool[run] = str(folder), {**rescored, "parameters": parameters}
    return on_pool


def run_name_of(inputs: Iterable[Mapping[str, Any]], runs: Manifests) -> str | None:
    """The run of a pool that has all of the files; None unless there is exactly one."""
    files = [(one["path"], one["size"]) for one in inputs]
    names = [
        name
        for name, facts in runs.items()
        if all(
            any(
                size == other["size"] and same_folder(path, other["path"])
                for other in facts["inputs"]
            )
            for path, size in files
        )
    ]
    return names[0] if len(names) == 1 else None
