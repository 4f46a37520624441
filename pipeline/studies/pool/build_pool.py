"""Builds a pool of several runs, or adds runs to one (SPEC 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import ceil

from goodgain.pipeline.inputs import progress
from goodgain.pipeline.results import pool_store
from goodgain.pipeline.results.folder import discard_unfinished
from goodgain.pipeline.results.lock import remove_if_empty
from goodgain.pipeline.results.pool_store import Pool
from goodgain.pipeline.results.sinks import Target
from goodgain.pipeline.run.engines import runners, worker_paths
from goodgain.pipeline.run.engines.table import ENGINES
from goodgain.pipeline.run.hosts.conversations import open_conversations
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.settings.pool_config import PoolConfig
from goodgain.pipeline.studies.pool.manifest import exclusions_in, manifest_of_pool
from goodgain.pipeline.studies.pool.pool_pipeline import PoolPlan, run_pool_pipeline
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.format_names import Format
from goodgain.transforms.filesystems import make_absolute

# Bytes of traces per pool file; scoring reads one file at a time.
_INPUT_BYTES_PER_FILE = 32 * 2**20
FORMAT: Format = "avro"


def build_pool(request: PoolConfig, beam_arguments: Sequence[str], quiet: bool = False) -> Pool:
    """Build a pool, or add runs to one.

    Raises:
      UsageError: the request does not fit the pool, or a conversation is in the pool already; or
        traces, rules or labels cannot be found or used.
      GoodGainError: the pipeline failed; the pool is unchanged.
    """
    started = datetime.now(UTC)
    engine, options = runners.create(request.runner, beam_arguments, command="pool build")
    runs = {
        name: worker_paths.reachable_path("run", patterns, engine, options)
        for name, patterns in request.runs.items()
    }
    request = worker_paths.for_workers(request, engine, options).model_copy(update={"runs": runs})
    if request.update:
        pool_store.read_pool(request.folder)
    else:
        pool_store.begin_pool(request.folder)
    evaluations = {
        name: open_conversations(settings, started) for name, settings in request.of_runs().items()
    }
    size = sum(evaluation.traces.size for evaluation in evaluations.values())
    with remove_if_empty(request.folder), pool_store.lock_pool(request.folder, started):
        before = pool_store.read_pool(request.folder) if request.update else None
        if before is not None:
            request = _complete(request, before, evaluations)
        discard_unfinished(request.folder)
        target = Target(
            make_absolute(request.folder),
            request.format or FORMAT,
            request.shards or max(1, ceil(size / _INPUT_BYTES_PER_FILE)),
        )
        in_memory = ENGINES[request.runner].in_memory
        plan = PoolPlan(request, evaluations, before, target, in_memory)
        with progress.show_progress(size, quiet=quiet):
            facts = run_pool_pipeline(plan, engine, options)
        finished = datetime.now(UTC)
        manifest = manifest_of_pool(request, evaluations, facts, before, target, started, finished)
        return pool_store.publish_pool(
            request.folder, manifest, (file.path for file in facts.files), before
        )


def _complete(
    request: PoolConfig, before: Pool, evaluations: Mapping[str, Evaluation]
) -> PoolConfig:
    """The request, completed with the topic, format and shards of the existing pool.

    Raises:
      UsageError: the pool was built with other options.
    """
    manifest = before.manifest
    if request.topic is not None and request.topic != manifest.topic:
        raise UsageError(
            f"The pool {before.folder} was built with the topic "
            f"{manifest.topic or 'conversation_id'}, not {request.topic}: leave out --topic, "
            "or build another pool."
        )
    if any(
        evaluation.traces.rules_digest != manifest.rules_digest
        for evaluation in evaluations.values()
    ):
        raise UsageError(
            f"The pool {before.folder} was built with other rules for duplicates: give those with "
            "--rules, or build another pool."
        )
    if manifest.exclude != exclusions_in(evaluations):
        raise UsageError(
            f"The pool {before.folder} was built with other exclusions: give the same --exclude, "
            "--qrels-id and --qrels-topic, or build another pool."
        )
    if request.unit != manifest.unit:
        raise UsageError(
            f"The pool {before.folder} holds {manifest.unit}s, not {request.unit}s: give --unit "
            f"{manifest.unit}, or build another pool."
        )
    if request.format not in (None, manifest.format):
        raise UsageError(
            f"The pool {before.folder} is stored as {manifest.format}: leave out --format."
        )
    return request.model_copy(
        update={
            "topic": manifest.topic,
            "format": manifest.format,
            "shards": request.shards or manifest.shards,
        }
    )
