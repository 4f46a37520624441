"""`python -m tests.bench [OUTPUT]` measures everything in one go and prints and stores a table."""

import sys
import tempfile
from pathlib import Path

from tests.bench import ranking
from tests.bench.core import core_rows
from tests.bench.rows import Row
from tests.bench.runs import run_rows, sample
from tests.bench.table import store


def main(output: Path) -> None:
    """Measure, print, store `bench.md` in the output folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = run_rows(folder)
        run_seconds = next(row.value for row in rows if row.name == "avro: run") / 1e6
        rows += core_rows(sample(folder, 1_000)[0], run_seconds)
    rows += [
        Row(f"10,000 topics x 1,000 results: {row['name']}", row["seconds"], "s CPU")
        for row in ranking.measure()
    ]
    store(rows, output / "bench.md")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/bench"))
