"""Benchmarks of whole runs: CPU relative to a bare decoding loop, memory, and growth."""

from collections.abc import Iterator
from functools import cache, partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import fastavro

from goodgain.pipeline.sample.writers import write_sample
from goodgain.pipeline.settings.sample_config import SampleConfig
from tests.bench.growth import growth_rows
from tests.bench.processes import Cost, cost_of, cost_of_run, in_turns
from tests.bench.rows import Row

# Conversations of a run that is all start-up: with two, means have intervals, and what computes
# them is loaded (0.2 s, 12 MB), as in every larger run.
FEWEST = 2
FULL = 6_200  # conversations; with 4 iterations of 20 results each about 490,000 results
AVRO_RUN = "avro: run"
OTHER_LETTERS = "avro, 30 % of the snippets not ASCII"
_BARE_LOOPS = {".avro": "fastavro", ".jsonl": "typed msgspec", ".parquet": "pyarrow"}
_MOST_LOOPS = {".avro": 1, ".jsonl": 5, ".parquet": 1}  # allowed for a run


@cache
def sample(folder: Path, conversations: int, suffix: str = ".avro") -> tuple[Path, int]:
    """A sample file without bad records, and its number of results."""
    path = folder / f"sample-{conversations}{suffix}"
    written = write_sample(SampleConfig(conversations=conversations, bad_share=0.0), str(path))
    return path, written.results


def format_rows(folder: Path) -> Iterator[Row]:
    """For each format, CPU of a run and of the bare loop, both without start-up."""
    tiny, _ = sample(folder, FEWEST)
    for suffix, loop in _BARE_LOOPS.items():
        path, results = sample(folder, FULL, suffix)
        measures = {
            "python": partial(_cost_of_bare, tiny),
            "bare": partial(_cost_of_bare, path),
            "start": partial(cost_of_run, tiny, folder / "out"),
            "run": partial(cost_of_run, path, folder / "out"),
        }
        turns = in_turns(measures)
        bares = [turn["bare"].cpu - turn["python"].cpu for turn in turns]
        runs = [turn["run"].cpu - turn["start"].cpu for turn in turns]
        # Ratios within a turn, since the machine may be twice as fast in another.
        ratio = median(run / bare for run, bare in zip(runs, bares, strict=True))
        name = suffix.removeprefix(".")
        yield Row(f"{name}: bare {loop} loop", median(bares) / results * 1e6, "us CPU a result")
        yield Row(f"{name}: run", median(runs) / results * 1e6, "us CPU a result")
        yield Row(f"{name}: run / bare loop", ratio, "ratio", f"{_MOST_LOOPS[suffix]} or less")
        yield Row(f"{name}: results", results / median(runs), "a CPU second")
        megabytes = path.stat().st_size / 1e6
        yield Row(f"{name}: size of the file", megabytes / median(runs), "MB a CPU second")
        if suffix == ".avro":
            yield from _avro_rows(turns, results)


def other_rows(folder: Path) -> Iterator[Row]:
    """Avro with non-ASCII text, without the native part, and compared with a plain script."""
    tiny, _ = sample(folder, FEWEST)
    path, _ = sample(folder, FULL)
    ascii_, foreign = (
        _with_word(path, word) for word in ("cafe", "caf\N{LATIN SMALL LETTER E WITH ACUTE}")
    )
    in_python = {"GOODGAIN_NATIVE": "0"}
    plain = ["-m", "tests.bench.plain"]
    turns = in_turns(
        {
            "python": partial(_cost_of_bare, tiny),
            "bare": partial(_cost_of_bare, path),
            "bare ascii": partial(_cost_of_bare, ascii_),
            "bare foreign": partial(_cost_of_bare, foreign),
            "start": partial(cost_of_run, tiny, folder / "out"),
            "run": partial(cost_of_run, path, folder / "out"),
            "ascii": partial(cost_of_run, ascii_, folder / "out"),
            "foreign": partial(cost_of_run, foreign, folder / "out"),
            "in python": partial(cost_of_run, path, folder / "out", environment=in_python),
            "plain start": partial(cost_of, [*plain, str(tiny), str(folder)]),
            "plain": partial(cost_of, [*plain, str(path), str(folder)]),
        }
    )

    def ratio(one: tuple[str, str], other: tuple[str, str]) -> float:
        return median(
            (turn[one[0]].cpu - turn[one[1]].cpu) / (turn[other[0]].cpu - turn[other[1]].cpu)
            for turn in turns
        )

    run, bare = ("run", "start"), ("bare", "python")
    slower = ratio(("foreign", "start"), ("bare foreign", "python")) - ratio(
        ("ascii", "start"), ("bare ascii", "python")
    )
    yield Row(f"{OTHER_LETTERS}: run / bare loop, above ASCII alone", slower, "", "0.15 or less")
    without = ratio(("in python", "start"), bare)
    yield Row("without the native part: run / bare loop", without, "ratio", "3.7 or less")
    yield Row("run / plain script", ratio(run, ("plain", "plain start")), "ratio", "0.25 or less")


def _with_word(path: Path, word: str) -> Path:
    """A copy of the file with a word added to 30 % of the snippets, in blocks as fastavro makes."""
    changed_file = path.with_name(f"{word}.avro")
    numbers = count()

    def change(record: dict[str, Any]) -> dict[str, Any]:
        for result in record["results"]:
            if result["snippet"] and next(numbers) % 10 < 3:
                result["snippet"] += f" {word}"
        return record

    with path.open("rb") as file, changed_file.open("wb") as target:
        reader = fastavro.reader(file)
        fastavro.writer(target, reader.writer_schema, map(change, reader), codec=reader.codec)
    return changed_file


def _cost_of_bare(path: Path) -> Cost:
    return cost_of(["-m", "tests.bench.bare", str(path)])


def _avro_rows(turns: list[dict[str, Cost]], results: int) -> Iterator[Row]:
    yield Row("start-up of a run", median(turn["start"].cpu for turn in turns), "s CPU")
    memory = median(turn["run"].peak_bytes - turn["start"].peak_bytes for turn in turns) / results
    yield Row("peak memory over start-up", memory, "bytes a result", "100 or less")


def conversations_rows(folder: Path) -> Iterator[Row]:
    """CPU per result for growing numbers of conversations."""
    samples = {factor: sample(folder, 500 * factor) for factor in (1, 2, 4, 8)}
    tiny, _ = sample(folder, FEWEST)
    yield from growth_rows("more conversations", samples, tiny, folder)
