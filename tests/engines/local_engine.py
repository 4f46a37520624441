"""What every engine for tests does: it starts, checks and stops its processes together."""

import contextlib
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from tests.engines.processes import Daemon
from tests.engines.settings import Settings, load_settings


class LocalEngine(ABC):
    """Processes on this machine that are of use together only."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or load_settings()

    @property
    @abstractmethod
    def daemons(self) -> tuple[Daemon, ...]:
        """All processes, in the order in which they start."""

    @abstractmethod
    def install(self) -> None:
        """Fetch what is missing.

        Raises:
            EngineError: a needed program is missing, or a download failed.
        """

    @abstractmethod
    def prepare(self) -> None:
        """Do what comes before the processes start."""

    @property
    def temporary_folders(self) -> tuple[Path, ...]:
        """Of use only while the engine runs, unlike logs."""
        return ()

    def start(self) -> None:
        """Install what is missing, start what does not run, and return when all is healthy.

        Raises:
            EngineError: something could not be installed or started; says which log to read.
        """
        self.install()
        self.prepare()
        for daemon in self.daemons:
            daemon.launch()
        self.check()

    def check(self) -> None:
        """Return when every process is healthy.

        Raises:
            EngineError: one is not; says which log to read.
        """
        for daemon in self.daemons:
            daemon.check(daemon.seconds_to_start)

    def stop(self) -> None:
        """End all processes, the last started first, and clear away what killed ones left."""
        for daemon in reversed(self.daemons):
            daemon.stop()
        for folder in self.temporary_folders:
            shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def running(self) -> Iterator[Self]:
        """The engine, started; it is stopped when the block ends, unless it ran before."""
        ran_before = self.daemons[0].pid() is not None
        try:
            self.start()
            yield self
        finally:
            if not ran_before:
                self.stop()
