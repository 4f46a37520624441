"""Rows about whole runs: CPU over a bare decoding loop, growth, memory, two workers."""

from pathlib import Path

from pipeline.sample import SampleOptions, write_sample
from tests.bench.processes import Cost, cost_of, cost_of_run
from tests.bench.rows import Row

TWO_PROCESSES = ("--direct_running_mode=multi_processing", "--direct_num_workers=2")
FULL = 4_500  # conversations; with 4 iterations of 20 results each about 360,000 results


def sample(folder: Path, conversations: int, suffix: str = ".avro") -> tuple[Path, int]:
    """A sample file without bad records, and how many results it holds."""
    path = folder / f"sample-{conversations}{suffix}"
    written = write_sample(SampleOptions(conversations=conversations, bad_share=0.0), path)
    return path, written.results


def run_rows(folder: Path) -> list[Row]:
    """All rows about whole runs."""
    tiny, _ = sample(folder, 1)
    start_up = cost_of_run(tiny, folder / "out")
    rows = [Row("start-up of a run", start_up.cpu, "s CPU")]
    rows += _formats(folder, start_up)
    rows += _growth(folder, start_up)
    rows += _two_workers(folder)
    return rows


def _formats(folder: Path, start_up: Cost) -> list[Row]:
    bare_start_up = cost_of(["-m", "tests.bench.bare", str(folder / "sample-1.avro")])
    rows = []
    for suffix, loop in ((".avro", "fastavro"), (".jsonl", "msgspec"), (".parquet", "pyarrow")):
        path, results = sample(folder, FULL, suffix)
        bare = cost_of(["-m", "tests.bench.bare", str(path)]).cpu - bare_start_up.cpu
        run = cost_of_run(path, folder / "out")
        cpu = run.cpu - start_up.cpu
        name = suffix.removeprefix(".")
        rows.append(Row(f"{name}: bare {loop} loop", bare / results * 1e6, "us CPU a result"))
        rows.append(Row(f"{name}: run", cpu / results * 1e6, "us CPU a result"))
        rows.append(Row(f"{name}: run / bare loop", cpu / bare, "ratio", "2.0 or less"))
        if suffix == ".avro":
            memory = (run.peak_bytes - start_up.peak_bytes) / results
            rows.append(Row("peak memory over start-up", memory, "bytes a result", "300 or less"))
    return rows


def _growth(folder: Path, start_up: Cost) -> list[Row]:
    rows, first = [], 0.0
    for factor in (1, 2, 4, 8):
        path, results = sample(folder, 500 * factor)
        cost = (cost_of_run(path, folder / "out").cpu - start_up.cpu) / results
        first = first or cost
        target = "1.1 or less" if factor > 1 else ""
        rows.append(
            Row(f"{factor} x 500 conversations, CPU a result", cost / first, "ratio", target)
        )
    return rows


def _two_workers(folder: Path) -> list[Row]:
    path, _ = sample(folder, FULL)
    one = cost_of_run(path, folder / "out")
    two = cost_of_run(path, folder / "out", *TWO_PROCESSES)
    return [
        Row("wall, one process", one.wall, "s"),
        Row("wall, two worker processes", two.wall, "s"),
        Row("wall, two worker processes / one", two.wall / one.wall, "ratio"),
    ]
