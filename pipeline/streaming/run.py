"""One start of a stream, from configuration to the summary at its end."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import StandardOptions
from apache_beam.runners.portability.prism_runner import PrismRunner

from pipeline import runners
from pipeline.cli.console import message_console
from pipeline.exit_codes import ExitCode
from pipeline.lock import locked
from pipeline.rules import load_rules
from pipeline.run import cause_of
from pipeline.scoring import scoring_of
from pipeline.streaming import already, figures, graph, live_view
from pipeline.streaming.config import StreamConfig
from pipeline.streaming.engine_log import LOG, engine_log
from pipeline.streaming.keeping import (
    kept_folder,
    next_start,
    note_progress,
    note_start,
    read_progress,
)
from pipeline.streaming.prism import TiedPrismRunner
from pipeline.streaming.resume import read_written, what_again
from pipeline.streaming.sinks import StreamTarget
from pipeline.streaming.summary import print_summary
from transforms import draining, stopping
from transforms.core.closing import Closing
from transforms.core.errors import GoodGainError, UsageError
from transforms.core.reach import WatermarkRule
from transforms.folder_watch import FolderSource
from transforms.journal_file import read_journal
from transforms.watch import WatchFolder

_MILLIS = 1_000  # of a second


def stream(
    config: StreamConfig, beam_arguments: Sequence[str], ends_when_silent: bool = False
) -> int:
    """Stream until Ctrl-C.

    Args:
      config: what to read, compute and write.
      beam_arguments: options for the engine.
      ends_when_silent: end by itself when nothing has come for `idle`.

    Returns:
      The exit code.

    Raises:
      UsageError: the input, the output folder, the rules or the engine cannot be used.
      GoodGainError: the stream failed; started again, it goes on.
    """
    started = datetime.now(UTC)
    _check_input(config)
    rules = load_rules(config.rules)
    engine, options = _engine(config.runner, beam_arguments)
    kept = kept_folder(config.output)
    with locked(kept, started):
        start = next_start(kept, config.meaning, started)
        journal = read_journal(str(kept))
        again = what_again(config, journal, read_progress(kept))
        written, totals = read_written(config.output, again.bounds)
        already.begin(written)
        figures.begin(totals)
        note_start(kept, start)
        plan = graph.StreamPlan(
            source=WatchFolder(_source(config, kept, again.horizon), ends_when_silent),
            target=StreamTarget(
                folder=config.output,
                format=config.format,
                shards=config.shards,
                start=start.number,
                window=config.window,
                flush=config.flush,
            ),
            scoring=scoring_of(config, rules),
            closing=Closing(
                gap=config.gap,
                allowed_lateness=config.allowed_lateness,
                max_open=config.max_open,
                most_results=config.max_open_results,
                live=config.live,
            ),
            slices=config.slice,
            max_i=config.max_i,
            kept=kept,
        )
        _say_what_begins(config, start.number, len(journal.entries))
        _run_pipeline(plan, engine, options, kept)
        journal = read_journal(str(kept))
        if journal.reach.watermark is not None:
            # Everything that was due has been flushed when the pipeline ends well.
            note_progress(kept, journal.reach.watermark)
        print_summary(config, figures.now(), journal)
    return ExitCode.DONE


def _check_input(config: StreamConfig) -> None:
    if "://" in config.input:
        raise UsageError(f"Input {config.input} cannot be streamed from; give a local folder.")
    folder, output = Path(config.input), Path(config.output)
    if not folder.is_dir():
        raise UsageError(f"Input {config.input} is no folder; make it, or check the path.")
    if folder.resolve() == output.resolve():
        raise UsageError(f"Input and output are both {config.input}; give two folders.")


def _engine(runner: str, beam_arguments: Sequence[str]) -> tuple[Any, Any]:
    engine, options = runners.create(runner, beam_arguments)
    options.view_as(StandardOptions).streaming = True
    return TiedPrismRunner() if type(engine) is PrismRunner else engine, options


def _source(config: StreamConfig, kept: Path, horizon: int) -> FolderSource:
    return FolderSource(
        folder=config.input,
        journal=str(kept),
        rule=WatermarkRule(
            out_of_orderness_ms=config.out_of_orderness,
            ahead_ms=config.ahead,
            idle_ms=config.idle,
            quiet_ms=config.gap,
        ),
        horizon_ms=horizon,
        poll_seconds=config.poll / _MILLIS,
    )


def _say_what_begins(config: StreamConfig, start: int, entries: int) -> None:
    goes_on = f", going on behind {entries:,} entries of its journal" if entries else ""
    message_console().print(
        f"goodgain: watching {config.input} (start {start}{goes_on}); Ctrl-C ends it.",
        soft_wrap=True,
    )


def _run_pipeline(plan: graph.StreamPlan, engine: Any, options: Any, kept: Path) -> None:
    """Build the graph, run it, and wait for its end, which Ctrl-C brings about.

    Raises:
      GoodGainError: the engine failed.
    """
    stopping.reset_stop()
    draining.end_draining()
    log = kept / LOG
    pipeline = beam.Pipeline(runner=engine, options=options)
    graph.build(pipeline, plan)
    try:
        with _stop_by_signals(), live_view.shown(kept, sys.stderr), engine_log(log):
            result = pipeline.run()
            # The engine's own handler, set just now, would end it before anything is flushed.
            _catch_signals()
            result.wait_until_finish()
    except GoodGainError:
        raise
    except Exception as error:  # engines raise whatever they like
        raise GoodGainError(
            f"The stream failed: {cause_of(error)} Mend that and start it again with the same "
            f"options: it goes on where it ended. What the engine said is in {log}."
        ) from error


@contextmanager
def _stop_by_signals() -> Iterator[None]:
    before = {name: signal.getsignal(name) for name in _SIGNALS}
    _catch_signals()
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def _catch_signals() -> None:
    for name in _SIGNALS:
        signal.signal(name, _on_signal)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _on_signal(number: int, _: Any) -> None:
    """The first asks for a clean end; another one ends at once, as a crash would."""
    if stopping.is_stop_requested():
        raise KeyboardInterrupt
    stopping.request_stop()
