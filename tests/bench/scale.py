"""`python -m tests.bench.scale [OUTPUT]`: one job on each installed engine, and a hot key."""

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

from goodgain.pipeline.sample.writers import write_sample
from goodgain.pipeline.settings.sample_config import SampleConfig
from goodgain.transforms.core.native import SWITCH
from tests.bench.cluster_cost import cost_on, cpu_on_spark
from tests.bench.growth import growth_rows
from tests.bench.processes import Cost, cost_of_run, in_turns
from tests.bench.rows import Row
from tests.bench.runs import FEWEST, sample
from tests.bench.stream import stream_rows
from tests.bench.table import store
from tests.engines.cluster import Cluster
from tests.engines.install import install_native
from tests.engines.spark import SparkCluster

CONVERSATIONS = 2_000  # with 4 iterations of 20 results each about 160,000 results
HOT_SHARE = 0.2  # of all results, in one conversation
HOT_BASE = 400  # conversations in addition to the hot one, in the smallest sample
HOT_FACTORS = (1, 2, 4, 8)
SLOTS = (1, 2)
MANY_CONVERSATIONS = 12_400  # about 980,000 results, so that start-up is a small share
_WARMING_JOBS = 12  # until their CPU stays the same
_SHARE_OF_CEILING = 0.8
PRISM = "--runner=PrismRunner"


def main(output: Path) -> None:
    """Measure, print, store `scale.md` in the output folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trace, results = sample(folder, CONVERSATIONS)
        store(_rows(trace, results, folder), output / "scale.md")


def _rows(trace: Path, results: int, folder: Path) -> Iterator[Row]:
    yield Row("results", results, "results")
    yield from _on_prism(trace, results, folder)
    yield from stream_rows(folder)
    with Cluster().running() as flink:
        install_native(flink.settings)
        yield from _cpu_on_flink(flink, trace, results, folder, "with the native part", 60)
        yield from _two_slots(flink, folder)
        yield from _hot_on_flink(flink, folder)
    # Workers inherit this when the cluster starts.
    os.environ[SWITCH] = "0"
    with Cluster().running() as flink:
        yield from _cpu_on_flink(flink, trace, results, folder, "without the native part", 115)
    del os.environ[SWITCH]
    with SparkCluster().running() as spark:
        yield from _on_spark(spark, trace, results, folder)
    yield from _hot_key(folder)


def _on_prism(trace: Path, results: int, folder: Path) -> Iterator[Row]:
    tiny, _ = sample(folder, FEWEST)
    start = cost_of_run(tiny, folder / "out", PRISM)
    whole = cost_of_run(trace, folder / "out", PRISM)
    # This includes the CPU of Prism, since it is a child of the run that started it.
    yield _net("Prism, batch", whole.cpu - start.cpu, results, "50 or less")


def _on_spark(cluster: SparkCluster, trace: Path, results: int, folder: Path) -> Iterator[Row]:
    tiny, _ = sample(folder, FEWEST)
    cpu_on_spark(cluster, tiny, folder / "spark")  # warms Spark up
    start, whole = (cpu_on_spark(cluster, traces, folder / "spark") for traces in (tiny, trace))
    yield _net("Spark, 2 workers", whole - start, results, "100 or less")


def _net(name: str, cpu: float, results: int, target: str) -> Row:
    return Row(f"{name}: CPU a result, without start-up", cpu / results * 1e6, "us", target)


def _two_copies(trace: Path, folder: Path, cores: list[int]) -> float:
    """Wall seconds of the slower of two simultaneous runs, each on a core of its own."""
    costs: list[Cost] = []
    threads = [
        threading.Thread(
            target=lambda core=core: costs.append(
                cost_of_run(trace, folder / f"out-{core}", core=core)
            )
        )
        for core in cores[:2]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(cost.wall for cost in costs)


def _cpu_on_flink(
    cluster: Cluster, trace: Path, results: int, folder: Path, name: str, target: int
) -> Iterator[Row]:
    tiny, _ = sample(folder, FEWEST)
    cost_on(cluster, tiny, folder / "flink", 1)  # warms Flink up
    costs = in_turns(
        {traces: partial(cost_on, cluster, traces, folder / "flink", 1) for traces in (tiny, trace)}
    )
    name = f"Flink, 1 slot, {name}"
    cpu = median(turn[trace].cpu - turn[tiny].cpu for turn in costs)
    yield _net(name, cpu, results, f"{target} or less")
    yield Row(f"{name}: start-up", median(turn[tiny].cpu for turn in costs), "s CPU")
    passed = costs[0][trace].written_bytes / results
    yield Row(f"{name}: passed between tasks", passed, "bytes a result")


def _two_slots(cluster: Cluster, folder: Path) -> Iterator[Row]:
    """The speed-up by a second slot, and that of two independent runs on this machine."""
    tiny, _ = sample(folder, FEWEST)
    trace, results = sample(folder, MANY_CONVERSATIONS)
    measures = {
        (traces, slots): partial(cost_on, cluster, traces, folder / "flink", slots)
        for slots in SLOTS
        for traces in (tiny, trace)
    }
    # Flink takes any of its slots, and each of their JVMs compiles its code during several jobs.
    for _ in range(_WARMING_JOBS):
        cost_on(cluster, trace, folder / "flink", len(cluster.task_managers))
    turns = in_turns(measures)
    jobs = {
        slots: median(turn[trace, slots].job - turn[tiny, slots].job for turn in turns)
        for slots in SLOTS
    }
    for slots, seconds in jobs.items():
        name = f"Flink, {slots} slot{'s' * (slots > 1)}, {results:,} results"
        yield Row(f"{name}: wall of the job, without start-up", seconds, "s")
    cores = sorted(os.sched_getaffinity(0))
    one = cost_of_run(trace, folder / "out", core=cores[0])  # or its threads would use both
    # Two logical cores may share a physical one, so the speed-up of two independent runs is the
    # most that any job can reach on this machine.
    ceiling = 2 * one.wall / _two_copies(trace, folder, cores)
    yield Row("two runs at once / one after the other", ceiling, "times as fast")
    target = f"{_SHARE_OF_CEILING * ceiling:.2f} or more"
    yield Row("Flink, 1 slot / 2 slots", jobs[1] / jobs[2], "times as fast", target)


def _hot_on_flink(cluster: Cluster, folder: Path) -> Iterator[Row]:
    trace, results = _hot_sample(folder, HOT_FACTORS[1])
    cost = cost_on(cluster, trace, folder / "flink", 2)
    yield Row(
        f"Flink, 2 slots, hot key, {results:,} results: CPU a result",
        cost.cpu / results * 1e6,
        "us",
    )
    yield Row("Flink, 2 slots, hot key: wall of the job", cost.job, "s")


def _hot_key(folder: Path) -> Iterator[Row]:
    samples = {factor: _hot_sample(folder, factor) for factor in HOT_FACTORS}
    tiny, _ = sample(folder, FEWEST)
    yield from growth_rows("a fifth in one conversation", samples, tiny, folder)


def _hot_sample(folder: Path, factor: int) -> tuple[Path, int]:
    """A file where one conversation has a fifth of all results, and the number of all results."""
    path = folder / f"hot-{factor}.jsonl"
    even = SampleConfig(conversations=HOT_BASE * factor, bad_share=0.0)
    others = write_sample(even, str(path)).results
    hot_results = others * HOT_SHARE / (1 - HOT_SHARE)
    hot = SampleConfig(
        seed=2,
        conversations=1,
        iterations=round(hot_results / even.results),
        fixed_iterations=True,
        turns_share=0.0,
        bad_share=0.0,
    )
    hot_path = folder / "hot.jsonl"
    more = write_sample(hot, hot_path).results
    with path.open("ab") as file:
        file.write(hot_path.read_bytes())
    return path, others + more


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/bench"))
