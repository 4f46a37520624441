"""The cluster needs its own worker pool, because TaskManagers use the same names for workers."""

from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen

import pytest
from apache_beam.portability.api.org.apache.beam.model.fn_execution.v1.beam_fn_api_pb2 import (
    StartWorkerRequest,
    StopWorkerRequest,
)
from apache_beam.runners.worker import worker_pool_main
from apache_beam.runners.worker.worker_pool_main import BeamFnExternalWorkerPoolServicer

from tests.engines.worker_pool import SharedWorkerPool


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Popen[bytes]]]:
    """The processes that pools start while a test runs."""
    processes: list[Popen[bytes]] = []

    def start(*arguments: object, **options: object) -> Popen[bytes]:
        processes.append(Popen(*arguments, **options))  # type: ignore[call-overload]
        return processes[-1]

    monkeypatch.setattr(worker_pool_main.subprocess, "Popen", start)
    yield processes
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("pool_class", "survives"),
    [(BeamFnExternalWorkerPoolServicer, False), (SharedWorkerPool, True)],
)
def test_stopping_a_worker_keeps_that_of_another_task_manager_with_its_name(
    started: list[Popen[bytes]],
    tmp_path: Path,
    pool_class: type[BeamFnExternalWorkerPoolServicer],
    survives: bool,
) -> None:
    worker = tmp_path / "worker"
    worker.write_text("#!/bin/sh\nexec tail -f /dev/null\n")
    worker.chmod(0o755)
    pool = pool_class(use_process=True, container_executable=str(worker))
    for _task_manager in ("first", "second"):
        answer = pool.StartWorker(StartWorkerRequest(worker_id="1-1"), None)
        assert not answer.error
    # The first TaskManager stops its worker 1-1.
    pool.StopWorker(StopWorkerRequest(worker_id="1-1"), None)
    assert (started[1].poll() is None) is survives
