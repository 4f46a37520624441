"""Runs a stream on Prism, with workers in this process, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import io
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TextIO

import apache_beam as beam
from apache_beam.runners.portability import job_server
from apache_beam.runners.portability.prism_runner import PrismJobServer, PrismRunner

from goodgain.pipeline.run.engines import parent_guard
from goodgain.pipeline.run.engines.failures import engine_failures
from goodgain.pipeline.run.stream import graph
from goodgain.pipeline.run.stream.counter import StreamCounter
from goodgain.transforms.stream_end import StoppableEnd

_SIGNALS = (signal.SIGINT, signal.SIGTERM)

Watch = Callable[[StreamCounter], AbstractContextManager[None]]


def run(
    plan: graph.StreamPlan,
    end: StoppableEnd,
    counter: StreamCounter,
    options: Any,
    log: Path,
    watch: Watch | None = None,
) -> None:
    """Build the graph and run it until Ctrl-C or SIGTERM.

    Args:
      end, counter: those of the plan.
      log: file for what the engine logs.
      watch: shows the progress while the stream runs.

    Raises:
      GoodGainError: the engine failed.
    """
    pipeline = beam.Pipeline(runner=_ExitWithParentPrismRunner(), options=options)
    graph.build(pipeline, plan)
    view = nullcontext() if watch is None else watch(counter)
    advice = f" Fix that, and start it over with --overwrite. The engine's log is {log}."
    failures = engine_failures("The stream failed", advice)
    with failures, _stop_on_signals(end), view, engine_log(log):
        result = pipeline.run()
        # Prism's client has just set its own handlers, which would exit before the flush.
        _catch_signals(end)
        result.wait_until_finish()


@contextmanager
def _stop_on_signals(end: StoppableEnd) -> Iterator[None]:
    before = {name: signal.getsignal(name) for name in _SIGNALS}
    _catch_signals(end)
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def _catch_signals(end: StoppableEnd) -> None:
    def stop(number: int, frame: Any) -> None:
        """Stop the stream cleanly; at the second signal exit at once, like a crash."""
        if end.is_stop_requested():
            raise KeyboardInterrupt
        end.request_stop()

    for name in _SIGNALS:
        signal.signal(name, stop)


class _ExitWithParentPrismRunner(PrismRunner):
    """A PrismRunner with a Prism of its own, which lives exactly as long as this process.

    Started by Beam, Prism is killed by Ctrl-C before anything is flushed, and keeps running when
    the program is killed.
    """

    def default_job_server(self, options: Any) -> Any:
        return StopOnExit(_ExitWithParentJobServer(options))


class StopOnExit(job_server.StopOnExitJobServer):
    """Leaves SIGINT to the stream.

    Beam stops the server at Ctrl-C, and if the job is only being submitted it then waits for an
    answer for ever.
    """

    def start(self) -> Any:
        """Start the server, and return its endpoint."""
        handler = signal.getsignal(signal.SIGINT)
        endpoint = super().start()
        signal.signal(signal.SIGINT, handler)
        return endpoint


class _ExitWithParentJobServer(PrismJobServer):
    def subprocess_cmd_and_endpoint(self) -> tuple[list[str], str]:
        command, endpoint = super().subprocess_cmd_and_endpoint()
        return [sys.executable, parent_guard.__file__, *command], endpoint


@contextmanager
def engine_log(path: Path) -> Iterator[None]:
    """While the block runs, write warnings, and stderr of other threads, to a new file.

    If the block raises, they still go to the file, since workers of a dead engine log for a while.
    """
    logger = logging.getLogger()
    level, handlers, stderr = logger.level, list(logger.handlers), sys.stderr
    file = path.open("w", buffering=1, encoding="utf-8")  # line by line: the process may be killed
    handler = logging.StreamHandler(file)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.handlers[:] = [handler]
    logger.setLevel(logging.WARNING)
    # Workers also print to stderr the tracebacks that they log.
    sys.stderr = _OnlyMainThread(stderr, file)
    yield
    sys.stderr = stderr
    logger.handlers[:] = handlers
    logger.setLevel(level)
    file.close()


class _OnlyMainThread(io.TextIOBase):
    """Writes text of the main thread to one stream, that of other threads to another."""

    def __init__(self, main: TextIO, others: TextIO) -> None:
        super().__init__()
        self._main = main
        self._others = others

    def write(self, text: str) -> int:
        return self._stream().write(text)

    def flush(self) -> None:
        self._stream().flush()

    def isatty(self) -> bool:
        return self._stream().isatty()

    def _stream(self) -> TextIO:
        is_main = threading.current_thread() is threading.main_thread()
        return self._main if is_main else self._others
