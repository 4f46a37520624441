"""The pool of the nightly job: updated with each night's traces, or pinned to a state (SPEC 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from goodgain.pipeline.comparison.scored_again import run_name_of
from goodgain.pipeline.nightly.config import PoolChoice
from goodgain.pipeline.options.opened_pool import pool_manifest
from goodgain.pipeline.options.run_config import RunConfig
from goodgain.pipeline.outputs.folder import MANIFEST
from goodgain.pipeline.pool.build import PoolRequest
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.filesystems import exists, join, open_plain
from goodgain.transforms.read import find_inputs

Build = Callable[[PoolRequest, Sequence[str]], object]


def with_pool(
    choice: PoolChoice, day: date, config: RunConfig, beam_arguments: Sequence[str], build: Build
) -> RunConfig:
    """Update the pool if configured so, and return the run's configuration with the pool.

    A night is a run of the pool, named by its day. If the pool already has it with the same files,
    the pool is not changed, so that an interrupted job can resume; if the files differ, the night
    is replaced. Documents keep their numbers and labels.

    Raises:
      UsageError: the run has judgments of its own, or the pool is not in the pinned state.
      GoodGainError: the pool cannot be updated; it is unchanged.
    """
    if config.qrels or config.pool:
        own = "qrels" if config.qrels else "a pool"
        raise UsageError(
            f"The options of the run have {own}, but the nightly job has a pool of its own: leave "
            "out one of them."
        )
    if choice.digest is not None:
        name = _pinned_run(choice.path, choice.digest, config)
    else:
        name = day.isoformat()
        _add(choice, name, config, beam_arguments, build)
    return config.model_copy(update={"pool": choice.path, "run_name": name})


def _pinned_run(folder: str, digest: str, config: RunConfig) -> str | None:
    manifest = pool_manifest(folder, open_plain)
    if not manifest["digest"].startswith(digest):
        raise UsageError(
            f"The pool {folder} has the digest {manifest['digest']}, but {digest} is pinned: "
            "restore that state, or pin this one, with which earlier nights cannot be compared."
        )
    inputs = [{"path": file.path, "size": file.size} for file in find_inputs(config.input)]
    return run_name_of(inputs, manifest["runs"])


def _add(
    choice: PoolChoice, name: str, config: RunConfig, beam_arguments: Sequence[str], build: Build
) -> None:
    has_pool = exists(join(choice.path, MANIFEST))
    runs = pool_manifest(choice.path, open_plain)["runs"] if has_pool else {}
    files = {(file.path, file.size) for file in find_inputs(config.input)}
    if name in runs and _files(runs[name]["inputs"]) == files:
        return
    request = PoolRequest(
        runs={name: config.input},
        output=choice.path,
        topic=choice.topic,
        update=has_pool,
        replaces=has_pool,
        rules=config.rules,
        runner=config.runner,
        max_rejected=config.max_rejected,
        adaptation=config.adaptation,
    )
    build(request, beam_arguments)


def _files(inputs: Iterable[Mapping[str, Any]]) -> set[tuple[str, int]]:
    return {(one["path"], one["size"]) for one in inputs}
