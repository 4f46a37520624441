"""One start of a stream, from configuration to the summary at its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.runners.portability.prism_runner import PrismRunner

from goodgain.pipeline.document.console import message_console
from goodgain.pipeline.document.safe_text import printable
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.lock import locked
from goodgain.pipeline.run.engines import runners
from goodgain.pipeline.run.hosts.batch import cause_of
from goodgain.pipeline.run.plan.any_filesystem import ANY_FILESYSTEM
from goodgain.pipeline.run.plan.evaluation import open_scoring
from goodgain.pipeline.run.plan.seen_names import find_names
from goodgain.pipeline.run.plan.traces import traces_of
from goodgain.pipeline.run.stream import checkpoint, graph, live_counters, on_prism, resume, sources
from goodgain.pipeline.run.stream.live_counters import LiveCounters
from goodgain.pipeline.run.stream.stopping import THIS_PROCESS
from goodgain.pipeline.run.stream.summary import check_balance
from goodgain.pipeline.settings.stream_config import StreamConfig, default_row_options
from goodgain.transforms.core.errors import GoodGainError, UsageError
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.journal import Journal
from goodgain.transforms.core.warnings.check_inputs import CheckInputs
from goodgain.transforms.core.warnings.checks import warnings_of
from goodgain.transforms.filesystems import is_local, open_plain
from goodgain.transforms.sources.folder_files import is_complete_name
from goodgain.transforms.sources.journal_file import compact_journal, read_journal
from goodgain.transforms.stream_end import WITH_ENGINE

Show = Callable[[StreamConfig, LiveCounters, Journal], None]


def stream(
    config: StreamConfig,
    beam_arguments: Sequence[str],
    ends_when_silent: bool = False,
    show: Show | None = None,
    quiet: bool = False,
) -> int:
    """Stream until Ctrl-C.

    Args:
      ends_when_silent: stop when no record has come for `idle`.

    Raises:
      UsageError: the input, the output folder, the rules or the engine cannot be used.
      GoodGainError: the stream failed; a new start resumes it.
    """
    sources.check_input(config)  # before any message shows it
    engine, options = runners.create(
        config.runner, beam_arguments, streaming=True, command="stream"
    )
    if isinstance(engine, PrismRunner):
        return _stream_on_prism(config, options, ends_when_silent, show, quiet)
    return _stream_on_cluster(runners.for_workers(config, engine, options), engine, options, quiet)


def _stream_on_prism(
    config: StreamConfig, options: Any, ends_when_silent: bool, show: Show | None, quiet: bool
) -> int:
    """Stream from a folder on Prism; the next start resumes from the output folder."""
    if not is_local(config.input):
        raise UsageError(
            f"{config.runner} streams from folders only; for {config.input} use --runner "
            "FlinkRunner or DataflowRunner."
        )
    sources.check_folder(config)
    state_folder = checkpoint.open_state_folder(config.output)
    now = datetime.now(UTC)
    with locked(state_folder, now):
        start = checkpoint.next_start(state_folder, config.row_options, default_row_options(), now)
        horizon, complete_from = resume.restart_plan(
            config, read_journal(str(state_folder)), checkpoint.read_progress(state_folder)
        )
        scoring = _scoring_of(config)
        source = sources.folder(
            config,
            scoring.rules,
            state_folder,
            horizon,
            ends_when_silent,
            THIS_PROCESS,
            partial(resume.oldest_needed, state_folder, resume.needed_span(config)),
        )
        plan = graph.StreamPlan(config, scoring, source, start.number, state_folder, THIS_PROCESS)
        written, totals = resume.read_written(config.output, complete_from)
        resume.begin(written)
        live_counters.begin(totals, scoring)
        checkpoint.record_start(state_folder, start)
        warn_of_names(config, scoring)
        compact_journal(str(state_folder), config.input, horizon)
        _say(config, f"start {start.number}; Ctrl-C ends it", quiet)
        on_prism.run(plan, options, state_folder, quiet)
        final = THIS_PROCESS.final_watermark
        if final is not None:
            # The pipeline ended cleanly, so everything due by then is in files. The journal may be
            # further ahead, if the stream stopped while reading old files again.
            checkpoint.record_progress(state_folder, final)
        counters, journal = live_counters.now(), read_journal(str(state_folder))
        if show is not None:
            show(config, counters, journal)
        check_balance(counters, journal)
    return ExitCode.DONE


def _stream_on_cluster(config: StreamConfig, engine: Any, options: Any, quiet: bool) -> int:
    """Submit the stream to an engine that restores it from its own checkpoints."""
    scoring = _scoring_of(config)
    if is_local(config.input):
        sources.check_folder(config)
        state_folder = checkpoint.open_state_folder(config.output)
        source = sources.folder(config, scoring.rules, state_folder, 0, False, WITH_ENGINE)
    else:
        source = sources.messages(config, scoring.rules)
    # A new start number, so that file names differ from those of earlier jobs.
    start = resume.last_start(config.output) + 1
    plan = graph.StreamPlan(config, scoring, source, start, None, WITH_ENGINE)
    _say(config, f"on {config.runner}; the job keeps running when this program ends", quiet)
    pipeline = beam.Pipeline(runner=engine, options=options)
    graph.build(pipeline, plan)
    try:
        pipeline.run().wait_until_finish()
    except GoodGainError:
        raise
    except Exception as error:  # engines raise all kinds of errors
        raise GoodGainError(f"The stream failed: {cause_of(error)}") from error
    return ExitCode.DONE


def _scoring_of(config: StreamConfig) -> Scoring:
    return open_scoring(config, traces_of(config), ANY_FILESYSTEM).scoring


def warn_of_names(config: StreamConfig, scoring: Scoring) -> None:
    """Warn about fields that are not read, in the files that are already there (SPEC 10)."""
    folder = Path(config.input)
    files = [
        InputFile(str(path), path.stat().st_size)
        for path in sorted(folder.iterdir())
        if path.is_file() and is_complete_name(path.name)
    ]
    seen = config.names_to_check(find_names(files, open_plain, config.adaptation))
    for warning in warnings_of(
        CheckInputs({}, scoring.good_gain_threshold, scoring.rules, seen=seen)
    ):
        message_console().print(f"goodgain: {printable(warning_text(warning))}", soft_wrap=True)


def _say(config: StreamConfig, what: str, quiet: bool) -> None:
    text = f"goodgain: streaming from {config.input} ({what})."
    message_console(quiet).print(text, soft_wrap=True)
