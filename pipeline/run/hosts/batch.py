"""One batch run, from configuration to published outputs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from math import ceil
from typing import Any
from uuid import uuid4

import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from msgspec.structs import replace

from goodgain.pipeline.document.console import message_console
from goodgain.pipeline.document.model import Sentence
from goodgain.pipeline.inputs import progress
from goodgain.pipeline.inputs.local_files import count_usable_threads
from goodgain.pipeline.results.data_warnings import is_bad
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.folder import (
    MANIFEST,
    claim,
    discard_unfinished,
)
from goodgain.pipeline.results.lock import lock_output_folder
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.results.output_kinds import RUN_OUTPUTS
from goodgain.pipeline.results.replacement import prepare
from goodgain.pipeline.results.sinks import Target
from goodgain.pipeline.run.engines import runners, worker_paths
from goodgain.pipeline.run.engines.failures import engine_failures
from goodgain.pipeline.run.engines.table import ENGINES
from goodgain.pipeline.run.hosts import graph
from goodgain.pipeline.run.hosts.conversations import open_conversations
from goodgain.pipeline.run.hosts.finish import (
    BuildReport,
    StartedRun,
    finish,
    start_time_in,
)
from goodgain.pipeline.run.plan.unseen_names import describe_unseen_names
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.transforms.core.errors import GoodGainError, UsageError
from goodgain.transforms.core.wording import format_count
from goodgain.transforms.freed_memory import return_freed_memory

_INPUT_BYTES_PER_FILE = 64 * 2**20  # bytes of input per output file; each is written by one worker

Show = Callable[[str, RunManifest, Iterable[Sentence]], None]


def run(
    config: RunConfig,
    beam_arguments: Sequence[str],
    build_report: BuildReport | None = None,
    show: Show | None = None,
    quiet: bool = False,
) -> int:
    """Run the pipeline and publish its outputs, or submit a job that does both.

    Args:
      build_report: a function of a module, since workers may call it; None = no report.
      show: called with the folder, the manifest and the report's highlights of the finished run.
      quiet: print neither progress nor messages.

    Returns:
      An exit code: done or submitted, or bad data: too many rejected records, no records, no
      labels, no good results.

    Raises:
      UsageError: the input, the output folder, the rules or the engine cannot be used.
      GoodGainError: the run failed; nothing was published.
    """
    started = datetime.now(UTC)
    engine, options = runners.create(config.runner, beam_arguments)
    template_only = runners.only_stores_template(options)
    if template_only and config.gate:
        raise UsageError(
            "--gate checks finished outputs, but --template_location only submits the job: "
            "leave it out, and use `goodgain gate` when the job has ended."
        )
    config = worker_paths.for_workers(config, engine, options)
    evaluation = open_conversations(config, started)
    traces = evaluation.traces
    this_run = StartedRun(
        config=config,
        evaluation=evaluation,
        engine=type(engine).__name__,
        started=started,
        area=uuid4().hex,
        build_report=build_report,
    )
    with lock_output_folder(config.output):
        this_run = replace(this_run, replaces=start_time_in(config.output))
        plan = _plan(this_run, template_only)
        prepare(config.output, config.overwrite, RUN_OUTPUTS)
        console = message_console(quiet)
        console.print(
            f"goodgain: reading {format_count(len(traces.files), 'file')} of {traces.size:,} bytes "
            f"on {this_run.engine}."
        )
        seen = traces.seen
        for line in describe_unseen_names(config, seen, seen.outcomes | evaluation.outcomes.seen):
            console.print(f"goodgain: {line}", soft_wrap=True)
        try:
            claim(config.output, this_run.area)
            _run_pipeline(plan, engine, options, quiet)
            if not template_only:
                return _finish(this_run, show)
        except (KeyboardInterrupt, GoodGainError, OSError):
            discard_unfinished(config.output, this_run.area)
            raise
    console.print(
        f"goodgain: the job is submitted; it publishes its outputs to {config.output} "
        f"itself, {MANIFEST} last.",
        soft_wrap=True,
    )
    return ExitCode.DONE


def _finish(run: StartedRun, show: Show | None) -> int:
    """Publish the outputs, and show them."""
    published = finish(run, datetime.now(UTC))
    if show is not None:
        show(run.folder, published.manifest, published.highlights)
    return ExitCode.DATA_QUALITY if is_bad(published.manifest) else ExitCode.DONE


def _plan(run: StartedRun, template_only: bool) -> graph.Plan:
    config = run.config
    in_memory = ENGINES[config.runner].in_memory  # other engines can use their disks
    size = run.evaluation.traces.size
    return graph.Plan(
        run=run,
        target=Target(
            folder=config.output,
            format=config.format,
            shards=config.shards or max(1, ceil(size / _INPUT_BYTES_PER_FILE)),
            area=run.area,
            max_held_bytes=run.evaluation.max_held_bytes if in_memory else None,
        ),
        in_state=in_memory,
        # Other engines have a worker for each core.
        threads=count_usable_threads() if in_memory else 1,
        finishes=template_only,
    )


def _run_pipeline(plan: graph.Plan, engine: Any, options: Any, quiet: bool) -> None:
    """Build the graph, run it and wait for its end.

    Raises:
      GoodGainError: the engine failed.
    """
    # The local engine raises the error itself; the cause of a remote failure is only in the log.
    local = isinstance(engine, FnApiRunner)
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL if local else logging.ERROR)
    pipeline = beam.Pipeline(runner=engine, options=options)
    graph.build(pipeline, plan)
    shown = progress.show_progress(plan.run.evaluation.traces.size, quiet=quiet)
    with engine_failures("The run failed"), shown:
        pipeline.run().wait_until_finish()
    return_freed_memory()
