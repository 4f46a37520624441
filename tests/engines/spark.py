"""A Spark cluster for tests: a standalone master, its workers, job server and Python workers."""

import functools
import os
import signal
import subprocess
from pathlib import Path

from tests.engines import flink
from tests.engines.install import install_spark
from tests.engines.local_engine import LocalEngine
from tests.engines.processes import Daemon, EngineError

EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


class SparkCluster(LocalEngine):
    """Master, workers, job server and Python worker pool on this machine."""

    @functools.cached_property
    def master(self) -> Daemon:
        """The process that assigns the workers' cores."""
        ports = self.settings.ports
        return self._daemon(
            "master",
            "-Xmx256m",
            "org.apache.spark.deploy.master.Master",
            *("--host", "localhost", "--port", str(ports.spark_master)),
            *("--webui-port", str(ports.spark_page)),
            ports=(ports.spark_master, ports.spark_page),
        )

    @functools.cached_property
    def workers(self) -> tuple[Daemon, ...]:
        """The processes that start executors, one core each."""
        return tuple(
            self._daemon(
                f"worker-{number}",
                "-Xmx256m",
                "org.apache.spark.deploy.worker.Worker",
                *("--host", "localhost", "--cores", "1", "--memory", "768m"),
                *("--work-dir", str(self.settings.spark / "work"), "--webui-port", "0"),
                self._master_url,
            )
            for number in range(1, self.settings.spark_workers + 1)
        )

    @functools.cached_property
    def job_server(self) -> Daemon:
        """Takes Beam pipelines; every job's driver runs in it."""
        ports = self.settings.ports
        return self._daemon(
            "job-server",
            "-Xmx1500m",
            "-Dspark.executor.memory=512m",
            "-Dspark.driver.host=localhost",
            "-Dspark.ui.enabled=false",
            f"-Dspark.local.dir={self.settings.spark / 'local'}",
            "org.apache.beam.runners.spark.SparkJobServerDriver",
            f"--spark-master-url={self._master_url}",
            "--job-host=localhost",
            f"--job-port={ports.spark_job}",
            f"--artifact-port={ports.spark_artifact}",
            f"--expansion-port={ports.spark_expansion}",
            f"--artifacts-dir={self.settings.spark / 'artifacts'}",
            ports=(ports.spark_job, ports.spark_artifact, ports.spark_expansion),
        )

    @functools.cached_property
    def worker_pool(self) -> Daemon:
        """The process that starts Python workers, for all executors."""
        return flink.worker_pool(
            self.settings, self.settings.spark, self.settings.ports.spark_worker_pool
        )

    @property
    def daemons(self) -> tuple[Daemon, ...]:
        """All processes, in the order in which they start."""
        return (self.master, *self.workers, self.job_server, self.worker_pool)

    def install(self) -> None:
        """Fetch what is missing; see `LocalEngine`."""
        install_spark(self.settings)

    def prepare(self) -> None:
        """Make the folders, and start the master."""
        for folder in self.temporary_folders:
            folder.mkdir(parents=True, exist_ok=True)
        self.master.start()

    def check(self) -> None:
        """Check that every process is healthy and that the workers' Python is the expected one.

        Raises:
            EngineError: a check failed; the message names the log to read.
        """
        super().check()
        flink.check_workers_python(self.settings, flink.environment_of(self.worker_pool))

    @property
    def temporary_folders(self) -> tuple[Path, ...]:
        """Folders that are only needed while the engine runs, unlike logs."""
        return tuple(self.settings.spark / name for name in ("work", "local", "artifacts"))

    def finished_stages(self) -> int:
        """The number of finished stages of all jobs, by the log of the job server."""
        log = self.job_server.log
        return log.read_text(errors="replace").count(" finished in ") if log.exists() else 0

    def kill_executor(self) -> None:
        """Kill one of the processes that work for a job, with SIGKILL.

        Raises:
            EngineError: no such process is running.
        """
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
            # The executors of other clusters have their jars in other folders.
            if EXECUTOR in command and any(str(self.settings.spark_home) in at for at in command):
                os.kill(int(folder.name), signal.SIGKILL)
                return
        raise EngineError("there is no executor to kill")

    def beam_arguments(self) -> tuple[str, ...]:
        """The options that send a pipeline to this cluster."""
        ports = self.settings.ports
        return (
            "--runner=SparkRunner",
            f"--job_endpoint=localhost:{ports.spark_job}",
            f"--artifact_endpoint=localhost:{ports.spark_artifact}",
            "--environment_type=EXTERNAL",
            f"--environment_config=localhost:{ports.spark_worker_pool}",
        )

    def begin(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start the command `goodgain` on the cluster."""
        return subprocess.Popen(
            [
                *(str(self.settings.worker_python), "-m", "goodgain"),
                *(*arguments, *self.beam_arguments()),
            ],
            env=flink.worker_environment(self.settings),
        )

    def goodgain(self, *arguments: str) -> None:
        """Run the command `goodgain` on the cluster and return when it has ended.

        Raises:
            EngineError: its exit code is not 0.
        """
        code = self.begin(*arguments).wait()
        if code != 0:
            raise EngineError(f"goodgain {arguments[0]} ended with exit code {code}")

    @property
    def _master_url(self) -> str:
        return f"spark://localhost:{self.settings.ports.spark_master}"

    def _daemon(self, name: str, *arguments: str, ports: tuple[int, ...] = ()) -> Daemon:
        settings = self.settings
        environment = {
            **os.environ,
            "SPARK_HOME": str(settings.spark_home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_SCALA_VERSION": "2.12",  # as in Spark's own start scripts
            "SPARK_LOCAL_DIRS": str(settings.spark / "local"),
        }
        return Daemon(
            name,
            flink.java_command(settings, f"{settings.spark_home / 'jars'}/*", *arguments),
            settings.spark,
            environment=environment,
            ports=ports,
        )
