"""Measures the time and the shuffled bytes of a run on a cluster from outside."""

import os
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.engines.cluster import Cluster
from tests.engines.processes import Daemon
from tests.engines.spark import SparkCluster

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ClusterCost:
    """The cost of a job on Flink.

    Attributes:
      wall: seconds from start to end of the command, including the submission.
      job: seconds between start and end of the job, as Flink reports them.
      cpu: CPU seconds of all TaskManagers and Python workers.
      written_bytes: passed by tasks to downstream tasks.
    """

    wall: float
    job: float
    cpu: float
    written_bytes: int


def cost_on(cluster: Cluster, trace: Path, output: Path, slots: int) -> ClusterCost:
    """Cost of `goodgain run` over one file on a number of Flink slots.

    Raises:
      EngineError: the run failed.
    """
    name = f"scale-{uuid.uuid4().hex[:8]}"
    working = (*cluster.task_managers, cluster.worker_pool)
    cpu, started = _cpu_seconds(working), time.perf_counter()
    cluster.goodgain(
        *("run", "--input", str(trace), "--output", str(output), "--overwrite"),
        f"--job_name={name}",
        parallelism=slots,
    )
    wall = time.perf_counter() - started
    (job,) = (job.id for job in cluster.rest.jobs() if job.name.startswith(name))
    return ClusterCost(
        wall,
        cluster.rest.seconds(job),
        _cpu_seconds(working) - cpu,
        cluster.rest.written_bytes(job),
    )


def cpu_on_spark(cluster: SparkCluster, trace: Path, output: Path) -> float:
    """CPU seconds of `goodgain run` over one file on Spark: executors and Python workers.

    Raises:
      EngineError: the run failed.
    """
    working = (*cluster.workers, cluster.worker_pool)
    cpu = _cpu_seconds(working)
    cluster.goodgain("run", "--input", str(trace), "--output", str(output), "--overwrite")
    return _cpu_seconds(working) - cpu


def _cpu_seconds(daemons: Iterable[Daemon]) -> float:
    """CPU seconds of the daemons' sessions so far, including their children that have ended."""
    leaders = {daemon.pid() for daemon in daemons}
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # After the program's name, which may contain `)`: state, parent, group, session, ...
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) in leaders:
            ticks += sum(map(int, fields[11:15]))
    return ticks / _TICKS
