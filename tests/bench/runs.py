"""Rows about whole runs: CPU over a bare decoding loop, memory, growth, several workers."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pipeline.sample import SampleOptions, write_sample
from tests.bench.processes import Cost, cost_of, cost_of_run, least
from tests.bench.rows import Row

TWO_PROCESSES = ("--direct_running_mode=multi_processing", "--direct_num_workers=2")
FULL = 4_500  # conversations; with 4 iterations of 20 results each about 355,000 results
AVRO_RUN = "avro: run"
_GROWTH_ROUNDS = 4
_BARE_LOOPS = {".avro": "fastavro", ".jsonl": "msgspec", ".parquet": "pyarrow"}
_TWO_THREADS = ("--direct_running_mode=multi_threading", "--direct_num_workers=2")


@cache
def sample(folder: Path, conversations: int, suffix: str = ".avro") -> tuple[Path, int]:
    """A sample file without bad records, and how many results it holds."""
    path = folder / f"sample-{conversations}{suffix}"
    written = write_sample(SampleOptions(conversations=conversations, bad_share=0.0), path)
    return path, written.results


@cache
def start_up(folder: Path) -> Cost:
    """A run over one conversation."""
    tiny, _ = sample(folder, 1)
    return least(lambda: cost_of_run(tiny, folder / "out"))


def format_rows(folder: Path) -> Iterator[Row]:
    """For each format what a run and the bare loop take; the run's start-up apart."""
    yield Row("start-up of a run", start_up(folder).cpu, "s CPU")
    tiny, _ = sample(folder, 1)
    python = least(lambda: cost_of(["-m", "tests.bench.bare", str(tiny)])).cpu
    for suffix, loop in _BARE_LOOPS.items():
        path, results = sample(folder, FULL, suffix)
        arguments = ["-m", "tests.bench.bare", str(path)]
        # In turns, so that what else the machine does weighs on both alike.
        pairs = [(cost_of(arguments), cost_of_run(path, folder / "out")) for _ in range(2)]
        bare = min(loop.cpu for loop, _ in pairs) - python
        run = min((run for _, run in pairs), key=lambda cost: cost.cpu)
        cpu = run.cpu - start_up(folder).cpu
        name = suffix.removeprefix(".")
        yield Row(f"{name}: bare {loop} loop", bare / results * 1e6, "us CPU a result")
        yield Row(f"{name}: run", cpu / results * 1e6, "us CPU a result")
        yield Row(f"{name}: run / bare loop", cpu / bare, "ratio", "2.0 or less")
        if suffix == ".avro":
            memory = (run.peak_bytes - start_up(folder).peak_bytes) / results
            yield Row("peak memory over start-up", memory, "bytes a result", "300 or less")


def growth_rows(folder: Path) -> Iterator[Row]:
    """CPU a result as conversations grow in number, over that of the fewest."""
    sizes = {factor: sample(folder, 500 * factor) for factor in (1, 2, 4, 8)}
    costs: dict[int, list[Cost]] = {factor: [] for factor in sizes}
    # In turns, so that what else the machine does weighs on all alike.
    for _ in range(_GROWTH_ROUNDS):
        for factor, (path, _) in sizes.items():
            costs[factor].append(cost_of_run(path, folder / "out"))
    first = 0.0
    for factor, (_, results) in sizes.items():
        least_cpu = min(cost.cpu for cost in costs[factor])
        cost = (least_cpu - start_up(folder).cpu) / results
        first = first or cost
        target = "1.1 or less" if factor > 1 else ""
        yield Row(f"{factor} x 500 conversations, CPU a result", cost / first, "ratio", target)


def worker_rows(folder: Path) -> Iterator[Row]:
    """Wall time with one worker, and with two of each kind that Beam's local runner has."""
    path, _ = sample(folder, FULL)
    one = cost_of_run(path, folder / "out")
    for name, options in (("processes", TWO_PROCESSES), ("threads", _TWO_THREADS)):
        two = cost_of_run(path, folder / "out", *options)
        yield Row(f"wall, two worker {name}", two.wall, "s")
        yield Row(f"wall, two worker {name} / one", two.wall / one.wall, "ratio")
