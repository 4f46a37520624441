"""Scores a finished run again from its traces, with other parameters or with a pool (SPEC 9)."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from msgspec.structs import replace

from goodgain.pipeline.results.finished_run import read_run
from goodgain.pipeline.results.folder import same_folder
from goodgain.pipeline.results.manifest_counts import FileOfRun
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.results.opened_pool import read_pool_manifest
from goodgain.pipeline.results.pool_manifest import PooledRun, PoolManifest
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.in_memory import find_in_memory
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.transforms.core.config_text import load_rules
from goodgain.transforms.core.dedup.rules_file import Policy
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.filesystems import open_plain

# Manifests lack the options of other engines; extra outputs and slices are not needed here.
_NOT_AGAIN = (
    "output", "overwrite", "format", "runner", "shards", "slice", "per_call", "bounds",
    "write_duplicates", "max_rejected", "gate", "baseline",
)  # fmt: skip
Outputs = Mapping[str, tuple[str, RunManifest]]  # by folder of a run: of its outputs, manifest


def score_again(
    outputs: str,
    manifest: RunManifest,
    folder: Path,
    changes: Mapping[str, Any],
    policy: Policy | None = None,
) -> RunManifest:
    """Score the inputs of a run again, on this machine, and return the new manifest.

    Args:
      changes: parameters to change, by name; None removes one.
      policy: policy of the rules for duplicates; None = that of the run.

    Raises:
      UsageError: the inputs, rules or pool of the run are gone or have changed.
    """
    # Not above: it imports Beam, and few comparisons score again.
    from goodgain.pipeline.run.hosts.batch import run

    if in_memory := find_in_memory(manifest.parameters):
        raise UsageError(
            f"{outputs} cannot be scored again, since its {in_memory} were in memory: evaluate "
            "files."
        )
    parameters = {**manifest.parameters, **changes, "output": str(folder)}
    options = {
        name: value
        for name, value in parameters.items()
        if value is not None and (name == "output" or name not in _NOT_AGAIN)
    }
    options["write_duplicates"] = False
    with _rules(manifest, policy) as rules:
        if rules is not None:
            options["rules"] = rules
        run(load_config(RunConfig, options), [])
    rescored = read_run(str(folder))
    same = {"inputs": rescored.inputs == manifest.inputs}
    if policy is None:
        same["rules"] = rescored.rules_digest == manifest.rules_digest
    if manifest.pool and rescored.pool and "pool" not in changes:
        same["pool"] = rescored.pool.digest == manifest.pool.digest
    if changed := [name for name, is_same in same.items() if not is_same]:
        raise UsageError(
            f"{outputs} cannot be scored again, since its {changed[0]} changed after the run: "
            "restore the original, or run it again."
        )
    return rescored


@contextlib.contextmanager
def _rules(manifest: RunManifest, policy: Policy | None) -> Iterator[str | None]:
    """A file with the run's rules under a policy; None = the run's own."""
    if policy is None:
        yield None
        return
    rules = load_rules(manifest.options.rules)
    changed = rules.model_copy(update={"policy": policy})
    with tempfile.TemporaryDirectory(prefix="goodgain-") as folder:
        path = Path(folder) / "rules.yaml"
        path.write_text(yaml.safe_dump(changed.model_dump(by_alias=True)), encoding="utf-8")
        yield str(path)


def score_on_pool(
    manifests: Mapping[str, RunManifest], pool: str, scratch: Path, say: Callable[[str], None]
) -> Outputs:
    """For each run's folder, its outputs scored with a pool, and their manifest.

    A run that was scored with this state of the pool is used as it is. Any other is scored again
    from its traces, under the name of the run in the pool that has the same files.

    Args:
      scratch: folder for runs that are scored again; their own folders stay unchanged.

    Raises:
      UsageError: the pool does not exist, or a run cannot be scored again.
    """
    pool_state = read_pool_manifest(pool, open_plain)
    on_pool = {run: (run, manifest) for run, manifest in manifests.items()}
    others = {
        run: manifest
        for run, manifest in manifests.items()
        if manifest.pool is None or manifest.pool.digest != pool_state.digest
    }
    for run, manifest in others.items():  # all of them first, since scoring takes long
        _check_labels(run, manifest, pool, pool_state)
    for number, (run, manifest) in enumerate(others.items()):
        name = run_name_of(manifest.inputs, pool_state.runs)
        say(f"Scoring {run} again with {pool}{f' as its run {name}' if name else ''} ...")
        folder = scratch / str(number)
        # The pool has one label for each document, which passages cannot raise.
        changes = {"pool": pool, "run_name": name, "document_label": None}
        rescored = score_again(run, manifest, folder, changes)
        parameters = {**rescored.parameters, "output": manifest.options.output}
        on_pool[run] = str(folder), replace(rescored, parameters=parameters)
    return on_pool


def _check_labels(run: str, manifest: RunManifest, pool: str, pool_state: PoolManifest) -> None:
    """Check that a run can be scored again with a pool.

    Raises:
      UsageError: it has labels, or exclusions, that the pool has not.
    """
    if manifest.qrels:
        raise UsageError(
            f"{run} was scored with qrels; labels come either from those or from a pool: leave "
            + Remedy("pool")
            + " out, or run it again with the pool."
        )
    excluded, of_pool = manifest.exclude, pool_state.exclude
    if (excluded and excluded.digest) != (of_pool and of_pool.digest):
        raise UsageError(
            f"{run} was scored with other exclusions than those of {pool}: leave "
            + Remedy("pool")
            + " out, or run it again with the pool."
        )


def run_name_of(inputs: Iterable[FileOfRun], runs: Mapping[str, PooledRun]) -> str | None:
    """The run of a pool that has all of the files; None unless there is exactly one."""
    files = [(file.path, file.size) for file in inputs]
    names = [
        name
        for name, pooled in runs.items()
        if all(
            any(size == other.size and same_folder(path, other.path) for other in pooled.inputs)
            for path, size in files
        )
    ]
    return names[0] if len(names) == 1 else None
