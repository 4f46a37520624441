"""The base of all engines for tests, which start, check and stop their processes together."""

import contextlib
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from tests.engines.processes import Daemon
from tests.engines.settings import Settings, load_settings


class LocalEngine(ABC):
    """Processes on this machine that work only together."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or load_settings()

    @property
    @abstractmethod
    def daemons(self) -> tuple[Daemon, ...]:
        """All processes, in the order in which they start."""

    @abstractmethod
    def install(self) -> None:
        """Download what is missing.

        Raises:
            EngineError: a needed program is missing, or a download failed.
        """

    @abstractmethod
    def prepare(self) -> None:
        """Prepare the start of the processes."""

    @property
    def temporary_folders(self) -> tuple[Path, ...]:
        """Folders that are only needed while the engine runs, unlike logs."""
        return ()

    def start(self) -> None:
        """Install what is missing, start processes that do not run, and check that all are healthy.

        Raises:
            EngineError: an installation or a start failed; the message names the log to read.
        """
        self.install()
        self._launch()

    def _launch(self) -> None:
        self.prepare()
        for daemon in self.daemons:
            daemon.launch()
        self.check()

    def check(self) -> None:
        """Wait until every process is healthy.

        Raises:
            EngineError: one is not healthy in time; the message names the log to read.
        """
        for daemon in self.daemons:
            daemon.check(daemon.seconds_to_start)

    def stop(self) -> None:
        """End all processes in reverse order, and delete their temporary folders."""
        for daemon in reversed(self.daemons):
            daemon.stop()
        for folder in self.temporary_folders:
            shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def running(self) -> Iterator[Self]:
        """Start the engine, and stop it at the end of the block unless it ran before."""
        self.install()  # first: the daemons' command lines list the jars that are there
        ran_before = self.daemons[0].pid() is not None
        try:
            self._launch()
            yield self
        finally:
            if not ran_before:
                self.stop()
