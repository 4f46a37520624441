"""`python -m tests.bench [OUTPUT]` runs all benchmarks, and prints and stores a table."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench import core, ranking, runs, waits
from tests.bench.rows import Row
from tests.bench.table import store


def rows(folder: Path) -> Iterator[Row]:
    """Yield each row as soon as it is measured."""
    run_seconds = 0.0
    for row in runs.format_rows(folder):
        yield row
        if row.name == runs.AVRO_RUN:
            run_seconds = row.value / 1e6
    yield from runs.other_rows(folder)
    yield from waits.waits_rows(folder)
    yield from waits.arrow_rows(folder)
    yield from core.core_rows(runs.sample(folder, runs.FULL)[0], run_seconds)
    yield from runs.conversations_rows(folder)
    for peer in ranking.measure():
        yield Row(f"10,000 topics x 1,000 results: {peer['name']}", peer["seconds"], "s")


def main(output: Path) -> None:
    """Measure, print, store `bench.md` in the output folder."""
    with tempfile.TemporaryDirectory() as folder:
        store(rows(Path(folder)), output / "bench.md")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/bench"))
