"""Engines start all processes, and stop them unless they ran before."""

import sys
from pathlib import Path

import pytest

from tests.engines.cluster import Cluster
from tests.engines.kafka import Kafka
from tests.engines.local_engine import LocalEngine
from tests.engines.processes import Daemon, EngineError
from tests.engines.settings import load_settings
from tests.engines.spark import SparkCluster
from tests.engines.test_processes import WAITS_FOR_A_SIGNAL


class Pair(LocalEngine):
    def __init__(self, folder: Path) -> None:
        super().__init__(load_settings())
        self.folder = folder
        self.steps: list[str] = []
        self.pair = tuple(Daemon(name, WAITS_FOR_A_SIGNAL, folder) for name in ("one", "other"))

    @property
    def daemons(self) -> tuple[Daemon, ...]:
        # Command lines list the jars that are there.
        assert "installed" in self.steps, "the processes were needed before they were installed"
        return self.pair

    @property
    def temporary_folders(self) -> tuple[Path, ...]:
        return (self.folder / "work",)

    def install(self) -> None:
        self.steps.append("installed")

    def prepare(self) -> None:
        self.steps.append("prepared")
        (self.folder / "work").mkdir(exist_ok=True)

    def pids(self) -> list[int | None]:
        return [daemon.pid() for daemon in self.pair]


def test_a_block_starts_all_processes_then_ends_them_and_deletes_their_folders(
    tmp_path: Path,
) -> None:
    engine = Pair(tmp_path)
    with engine.running():
        assert None not in engine.pids()
        assert engine.steps == ["installed", "prepared"]
    assert engine.pids() == [None, None]
    assert not (tmp_path / "work").exists()


def test_an_engine_that_ran_before_keeps_running(tmp_path: Path) -> None:
    engine = Pair(tmp_path)
    with engine.running():
        before = engine.pids()
        with Pair(tmp_path).running():
            pass
        assert engine.pids() == before


def test_a_failed_start_leaves_nothing_running(tmp_path: Path) -> None:
    engine = Pair(tmp_path)
    exits_at_once = (sys.executable, "-c", "")
    failing = Daemon("other", exits_at_once, tmp_path, is_ready=lambda: False)
    engine.pair = (engine.pair[0], failing)
    with pytest.raises(EngineError, match="other"), engine.running():
        pass
    assert engine.pids() == [None, None]


@pytest.mark.parametrize("engine", [Cluster, SparkCluster, Kafka])
def test_each_engine_can_be_created_before_it_is_installed(engine: type[LocalEngine]) -> None:
    assert engine(load_settings()).settings == load_settings()
