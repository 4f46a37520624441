"""A Flink cluster for tests: start, stop, break and repair it, and run jobs on it."""

import contextlib
import functools
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from goodgain.pipeline.run.engines.table import ENGINES
from tests.engines import flink
from tests.engines.flink_rest import FlinkRest
from tests.engines.install import install_flink
from tests.engines.local_engine import LocalEngine
from tests.engines.processes import Daemon, EngineError, end_of_log, wait_until
from tests.engines.settings import Settings

# Seconds before a wait fails; even on a busy machine only something that hangs takes so long.
PATIENCE = 300
STREAMING = ("--streaming", "--checkpointing_interval=1000")
# Without them rows between a stateful DoFn and the next GroupByKey are lost at checkpoints.
LOSSLESS = ENGINES["FlinkRunner"].arguments


@dataclass(frozen=True)
class Job:
    """A pipeline submitted to the cluster.

    Attributes:
        name: Unique among all jobs of the cluster.
        client: The Python process that submitted it and waits for its end.
        log: The output of the client.
        rest: The cluster's REST interface.
    """

    name: str
    client: subprocess.Popen[bytes]
    log: Path
    rest: FlinkRest

    @property
    def id(self) -> str | None:
        """Flink's identifier; None until Flink has the job."""
        return next((job.id for job in self.rest.jobs() if job.name.startswith(self.name)), None)

    def wait_until_running(self, seconds: float = PATIENCE) -> str:
        """Return the job's identifier once all its tasks run.

        Raises:
            EngineError: the client failed, or it took longer than `seconds`.
        """

        running: list[str] = []

        def runs() -> bool:
            self._check_client()
            if (job := self.id) is not None and self.rest.all_tasks_run(job):
                running.append(job)
            return bool(running)

        wait_until(runs, seconds, f"job {self.name} to run; read {self.log}")
        return running[0]

    def wait_for_checkpoints(self, more: int, seconds: float = PATIENCE) -> None:
        """Return when `more` further checkpoints of the job are complete.

        Raises:
            EngineError: it took longer than `seconds`.
        """
        job = self.wait_until_running(seconds)
        wanted = self.rest.completed_checkpoints(job) + more
        wait_until(
            lambda: self.rest.completed_checkpoints(job) >= wanted,
            seconds,
            f"checkpoints of job {self.name}",
        )

    def wait_until_restored(self, seconds: float = PATIENCE) -> None:
        """Return when the job was restored from a checkpoint and runs again.

        Raises:
            EngineError: it took longer than `seconds`.
        """
        job = self.wait_until_running(seconds)
        wait_until(
            lambda: self.rest.restores(job) > 0 and self.rest.all_tasks_run(job),
            seconds,
            f"job {self.name} to go back to a checkpoint",
        )

    def wait_until_done(self, seconds: float = PATIENCE) -> None:
        """Return when the pipeline has finished.

        Raises:
            EngineError: it failed, or took longer than `seconds`.
        """
        try:
            self.client.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise EngineError(f"job {self.name} has not ended; read {self.log}") from error
        self._check_client()

    def _check_client(self) -> None:
        if self.client.poll():
            raise EngineError(f"job {self.name} failed; read {self.log}:\n{end_of_log(self.log)}")


class Cluster(LocalEngine):
    """JobManager, TaskManagers, job server and Python worker pool on this machine."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings)
        self.rest = FlinkRest(self.settings)

    # Created on first use, because the command lines contain installed programs.
    @functools.cached_property
    def job_manager(self) -> Daemon:
        """Flink's coordinator."""
        return flink.job_manager(self.settings)

    @functools.cached_property
    def task_managers(self) -> tuple[Daemon, ...]:
        """The processes with one slot each; one of them is spare."""
        numbers = range(1, self.settings.task_managers + 1)
        return tuple(flink.task_manager(self.settings, number) for number in numbers)

    @functools.cached_property
    def job_server(self) -> Daemon:
        """The process that turns Beam pipelines into jobs."""
        return flink.job_server(self.settings)

    @functools.cached_property
    def worker_pool(self) -> Daemon:
        """The process that starts Python workers."""
        return flink.worker_pool(
            self.settings, self.settings.flink, self.settings.ports.worker_pool
        )

    @property
    def daemons(self) -> tuple[Daemon, ...]:
        """All processes, in the order in which they start."""
        return (self.job_manager, *self.task_managers, self.job_server, self.worker_pool)

    def install(self) -> None:
        """Fetch what is missing; see `LocalEngine`."""
        install_flink(self.settings)

    def prepare(self) -> None:
        """Write the configuration, and start the JobManager."""
        flink.write_configuration(self.settings)
        # First and alone: a TaskManager that does not find it waits for ten seconds.
        self.job_manager.start()

    def check(self) -> None:
        """Return when every process is healthy and the workers' Python is the right one.

        Raises:
            EngineError: a check failed; the message names the log to read.
        """
        super().check()
        flink.check_workers_python(self.settings, flink.environment_of(self.worker_pool))

    @property
    def temporary_folders(self) -> tuple[Path, ...]:
        """Folders that are only needed while the engine runs, unlike logs."""
        return tuple(self.settings.flink / name for name in flink.TEMPORARY_FOLDERS)

    def kill_task_manager_of(self, job_id: str) -> Daemon:
        """Kill -9 one of the TaskManagers that work for a job, and return it."""
        names = self.rest.task_managers_of(job_id)
        victim = next(daemon for daemon in self.task_managers if daemon.name in names)
        victim.kill()
        return victim

    def beam_arguments(self, parallelism: int) -> tuple[str, ...]:
        """The options that send a pipeline to this cluster, with `parallelism` slots."""
        ports = self.settings.ports
        return (
            "--runner=FlinkRunner",
            f"--job_endpoint=localhost:{ports.job}",
            f"--artifact_endpoint=localhost:{ports.artifact}",
            "--environment_type=EXTERNAL",
            f"--environment_config=localhost:{ports.worker_pool}",
            f"--parallelism={parallelism}",
        )

    def goodgain(
        self, *arguments: str, parallelism: int = 2, workers: tuple[str, ...] = ()
    ) -> None:
        """Run the command `goodgain` on the cluster and return when it has ended.

        Args:
            arguments: The command line.
            parallelism: The number of slots.
            workers: Options for other workers than those of the worker pool.

        Raises:
            EngineError: its exit code is not 0.
        """
        command = [str(self.settings.worker_python), "-m", "goodgain", *arguments]
        code = subprocess.run(
            [*command, *self.beam_arguments(parallelism), *workers],
            env=flink.worker_environment(self.settings),
        ).returncode
        if code != 0:
            raise EngineError(f"goodgain {arguments[0]} ended with exit code {code}")

    def submit(self, module: str, *arguments: str, folder: Path, parallelism: int = 2) -> Job:
        """Run a Python module in the workers' environment with the options for this cluster.

        Args:
            module: Importable by the workers too; passes its arguments on to Beam.
            arguments: The module's own, and Beam's.
            folder: The folder for the client's log.
            parallelism: The number of slots.
        """
        name = f"{module.rsplit('.', 1)[-1].replace('_', '-')}-{uuid.uuid4().hex[:8]}"
        command = [str(self.settings.worker_python), "-m", module, *arguments]
        command += [f"--job_name={name}", *self.beam_arguments(parallelism)]
        log = folder / f"{name}.log"
        with log.open("wb") as output:
            client = subprocess.Popen(
                command,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=flink.worker_environment(self.settings),
                cwd=folder,
            )
        return Job(name, client, log, self.rest)

    @contextlib.contextmanager
    def streaming(self, module: str, *arguments: str, folder: Path) -> Iterator[Job]:
        """Submit a streaming job, and cancel it at the end of the block unless it has ended."""
        job = self.submit(module, *arguments, *STREAMING, folder=folder)
        try:
            job.wait_until_running()
            yield job
        finally:
            job_id = job.id
            if job_id is not None and self.rest.state(job_id) not in ("CANCELED", "FINISHED"):
                self.rest.cancel(job_id)
            job.client.terminate()
            job.client.wait()
