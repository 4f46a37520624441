"""A stream, from configuration to the summary at its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import apache_beam as beam
from apache_beam.runners.portability.prism_runner import PrismRunner

from goodgain.pipeline.document.console import message_console
from goodgain.pipeline.document.safe_text import printable
from goodgain.pipeline.inputs.any_filesystem import ANY_FILESYSTEM
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.folder import ENGINE_LOG, discard_unfinished
from goodgain.pipeline.results.lock import lock_output_folder
from goodgain.pipeline.run.engines import runners, worker_paths
from goodgain.pipeline.run.engines.failures import engine_failures
from goodgain.pipeline.run.plan.evaluation import Evaluation, open_scoring
from goodgain.pipeline.run.plan.seen_names import find_names
from goodgain.pipeline.run.plan.traces import traces_of
from goodgain.pipeline.run.stream import prism, sources
from goodgain.pipeline.run.stream.counter import StreamCounter
from goodgain.pipeline.run.stream.graph import StreamPlan, build
from goodgain.pipeline.run.stream.output_folder import make_room
from goodgain.pipeline.run.stream.stream_counts import StreamCounts, check_balance
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metrics.own_names import asked_for
from goodgain.transforms.core.native import active_path
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.warnings.check_inputs import CheckInputs
from goodgain.transforms.core.warnings.checks import warnings_of
from goodgain.transforms.filesystems import is_local, open_plain
from goodgain.transforms.sources.folder_files import complete_files
from goodgain.transforms.stream_end import WITH_ENGINE, StoppableEnd

Show = Callable[[StreamConfig, StreamCounts], None]


def stream(
    config: StreamConfig,
    beam_arguments: Sequence[str],
    ends_when_silent: bool = False,
    show: Show | None = None,
    watch: prism.Watch | None = None,
    quiet: bool = False,
) -> int:
    """Stream until Ctrl-C.

    Args:
      ends_when_silent: stop when no record has come for `idle`.
      show: called with the counts at the end of a stream in this process.
      watch: shows the progress of a stream in this process while it runs.
      quiet: print no messages.

    Raises:
      UsageError: the input, the output folder, the rules or the engine cannot be used.
      GoodGainError: the stream failed.
    """
    sources.check_input(config)  # before any message shows it
    engine, options = runners.create(
        config.runner, beam_arguments, streaming=True, command="stream"
    )
    if isinstance(engine, PrismRunner):
        return _stream_here(config, options, ends_when_silent, show, watch, quiet)
    config = worker_paths.for_workers(config, engine, options)
    return _stream_on_cluster(config, engine, options, quiet)


def _stream_here(
    config: StreamConfig,
    options: Any,
    ends_when_silent: bool,
    show: Show | None,
    watch: prism.Watch | None,
    quiet: bool,
) -> int:
    """Stream from a folder on Prism, from its beginning or from `--since`."""
    if not is_local(config.input):
        raise UsageError(
            f"{config.runner} streams from folders only; for {config.input} use --runner "
            "FlinkRunner or DataflowRunner."
        )
    sources.check_folder(config)
    with lock_output_folder(config.output):
        evaluation = open_stream(config)
        scoring = evaluation.scoring
        make_room(config)
        warn_of_names(config, scoring)
        end, counter = StoppableEnd(), StreamCounter(scoring, asked_for(config.metrics))
        source = sources.folder(config, Packing.of(scoring), end, ends_when_silent)
        plan = StreamPlan(config, scoring, source, end, evaluation.outcomes, counter)
        _say(config, f"reading: {active_path()}; Ctrl-C ends it", quiet)
        try:
            prism.run(plan, end, counter, options, _log_of(config.output), watch)
        finally:
            discard_unfinished(config.output)
        counts = counter.now()
        if show is not None:
            show(config, counts)
        check_balance(counts)
    return ExitCode.DONE


def _stream_on_cluster(config: StreamConfig, engine: Any, options: Any, quiet: bool) -> int:
    """Submit the stream to an engine that restores it from its own checkpoints."""
    evaluation = open_stream(config)
    scoring = evaluation.scoring
    if is_local(config.input):
        sources.check_folder(config)
        source: beam.PTransform = sources.folder(config, Packing.of(scoring))
    else:
        source = sources.messages(config, Packing.of(scoring))
    if not runners.goes_on(options):
        make_room(config)
    _say(config, f"on {config.runner}; the job keeps running when this program ends", quiet)
    pipeline = beam.Pipeline(runner=engine, options=options)
    plan = StreamPlan(
        config, scoring, source, WITH_ENGINE, evaluation.outcomes, has_checkpoints=True
    )
    build(pipeline, plan)
    with engine_failures("The stream failed"):
        pipeline.run().wait_until_finish()
    return ExitCode.DONE


def _log_of(output: str) -> Path:
    """The file for what the engine logs: in the output folder, if that is on this machine."""
    return Path(output if is_local(output) else mkdtemp(prefix="goodgain-")) / ENGINE_LOG


def open_stream(config: StreamConfig) -> Evaluation:
    """The evaluation of a stream.

    Raises:
      UsageError: outcomes or pool cannot be found or used.
    """
    evaluation = open_scoring(config, traces_of(config), ANY_FILESYSTEM)
    pool = evaluation.pool
    if pool is not None and pool.manifest.exclude is not None:
        raise UsageError(
            f"The pool {pool.folder} was built without excluded documents, which a stream cannot "
            "leave out: use a pool that has all documents."
        )
    return evaluation


def warn_of_names(config: StreamConfig, scoring: Scoring) -> None:
    """Warn about fields that are not read, in the files that are already there (SPEC 10)."""
    files = complete_files(config.input)
    seen = config.names_to_check(find_names(files, open_plain, config.adaptation))
    for warning in warnings_of(
        CheckInputs({}, scoring.good_gain_threshold, scoring.rules, seen=seen)
    ):
        message_console().print(f"goodgain: {printable(warning_text(warning))}", soft_wrap=True)


def _say(config: StreamConfig, what: str, quiet: bool) -> None:
    text = f"goodgain: streaming from {config.input} ({what})."
    message_console(quiet).print(text, soft_wrap=True)
