"""What a run on the Flink cluster takes, measured from outside."""

import os
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from tests.engines.cluster import Cluster

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ClusterCost:
    """What a job took.

    Attributes:
      wall: seconds from the command to its end, with the submission.
      job: seconds that Flink worked on it.
      cpu: seconds of all TaskManagers and Python workers.
      written_bytes: what tasks handed to tasks behind them.
    """

    wall: float
    job: float
    cpu: float
    written_bytes: int


def cost_on(cluster: Cluster, trace: Path, output: Path, slots: int) -> ClusterCost:
    """Cost of `goodgain run` over one file on so many slots.

    Raises:
      EngineError: the run failed.
    """
    name = f"scale-{uuid.uuid4().hex[:8]}"
    cpu, started = _cpu_seconds(cluster), time.perf_counter()
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
        _cpu_seconds(cluster) - cpu,
        cluster.rest.written_bytes(job),
    )


def _cpu_seconds(cluster: Cluster) -> float:
    """CPU of the processes that do the work, of those they started, and of those that are gone."""
    leaders = {daemon.pid() for daemon in (*cluster.task_managers, cluster.worker_pool)}
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # Behind the program's name, which may hold anything: state, parent, group, session.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) in leaders:
            ticks += sum(map(int, fields[11:15]))
    return ticks / _TICKS
