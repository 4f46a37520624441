"""Runs a stream on Prism, with workers in this process, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apache_beam as beam

from goodgain.pipeline.engines.engine_log import LOG, engine_log
from goodgain.pipeline.engines.prism import ExitWithParentPrismRunner
from goodgain.pipeline.run import cause_of
from goodgain.pipeline.streaming import graph, live_view
from goodgain.pipeline.streaming.stopping import THIS_PROCESS
from goodgain.transforms.core.errors import GoodGainError

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run(plan: graph.StreamPlan, options: Any, state_folder: Path, quiet: bool = False) -> None:
    """Build the graph and run it until Ctrl-C or SIGTERM.

    Raises:
      GoodGainError: the engine failed.
    """
    THIS_PROCESS.reset()
    log = state_folder / LOG
    pipeline = beam.Pipeline(runner=ExitWithParentPrismRunner(), options=options)
    graph.build(pipeline, plan)
    try:
        view = live_view.shown(state_folder, sys.stderr, quiet)
        with _stopped_by_signals(), view, engine_log(log):
            result = pipeline.run()
            # Prism's client has just set its own handlers, which would exit before the flush.
            _catch_signals()
            result.wait_until_finish()
    except GoodGainError:
        raise
    except Exception as error:  # engines raise all kinds of errors
        raise GoodGainError(
            f"The stream failed: {cause_of(error)} Fix that and start the stream again with the "
            f"same options: it resumes where it stopped. The engine's log is {log}."
        ) from error


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
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


def _on_signal(number: int, _: Any) -> None:
    """The first signal stops the stream cleanly; a second one exits at once, like a crash."""
    if THIS_PROCESS.is_stop_requested():
        raise KeyboardInterrupt
    THIS_PROCESS.request_stop()
