"""Benchmarks of what people wait for: start-up, commands beside a run, a run on two cores."""

import os
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from statistics import median

import fastavro

from tests.bench.processes import Cost, cost_of, cost_of_run, in_turns
from tests.bench.rows import Row
from tests.bench.runs import FEWEST, FULL, sample

_SHORT = 5  # conversations: 20 search calls
_EVALUATE = "import sys, goodgain; goodgain.evaluate(sys.argv[1]).means"


def waits_rows(folder: Path) -> Iterator[Row]:
    """Start-up in CPU seconds; CPU of commands over that of a run, all of whole processes."""
    short, _ = sample(folder, _SHORT, ".jsonl")
    path, _ = sample(folder, FULL)
    out = folder / "out"
    turns = in_turns(
        {
            "help": partial(cost_of, ["-m", "goodgain", "--help"]),
            "short": partial(cost_of_run, short, out),
            "run": partial(cost_of_run, path, out),
            "validate": partial(cost_of, ["-m", "goodgain", "validate", str(path)]),
            "explain": partial(
                cost_of, ["-m", "goodgain", "explain", _first(path), "--input", str(path)]
            ),
            "evaluate": partial(cost_of, ["-W", "ignore", "-c", _EVALUATE, str(path)]),
        }
    )
    yield Row("--help", median(turn["help"].cpu for turn in turns), "s CPU", "0.3 or less")
    short_runs = median(turn["short"].cpu for turn in turns)
    yield Row("a run over 20 lines", short_runs, "s CPU", "1.8 or less")
    for command, most in (("validate", "1"), ("explain", "0.6"), ("evaluate", "0.8")):
        ratio = median(turn[command].cpu / turn["run"].cpu for turn in turns)
        yield Row(f"{command} / run", ratio, "ratio of CPU", f"{most} or less")
    yield from _two_cores(path, out)


def _first(path: Path) -> str:
    with path.open("rb") as file:
        return str(next(fastavro.reader(file))["conversation_id"])


def _two_cores(path: Path, output: Path) -> Iterator[Row]:
    """Wall time; an idle machine has two cores for it."""
    core = min(os.sched_getaffinity(0))
    if len(os.sched_getaffinity(0)) < 2:
        return
    turns = in_turns(
        {
            "one": partial(cost_of_run, path, output, core=core),
            "all": partial(cost_of_run, path, output),
        }
    )
    ratio = median(turn["all"].wall / turn["one"].wall for turn in turns)
    yield Row("a run on all cores / on one", ratio, "ratio of wall time")


def arrow_rows(folder: Path) -> Iterator[Row]:
    """Decoding of Avro into columns by arrow-avro, without objects: near what is possible."""
    path, results = _with_lists(sample(folder, FULL))
    tiny, _ = _with_lists(sample(folder, FEWEST))
    loops = {"fastavro": [], "arrow-avro": ["--arrow"]}
    turns = in_turns(
        {
            (loop, file): partial(_cost_of_loop, file, options)
            for loop, options in loops.items()
            for file in (tiny, path)
        }
    )
    for loop in loops:
        seconds = median(turn[loop, path].cpu - turn[loop, tiny].cpu for turn in turns)
        name = f"avro with lists in place of unions: bare {loop} loop"
        yield Row(name, seconds / results * 1e6, "us CPU a result")


def _cost_of_loop(path: Path, options: list[str]) -> Cost:
    return cost_of(["-m", "tests.bench.bare", str(path), *options])


def _with_lists(sampled: tuple[Path, int]) -> tuple[Path, int]:
    """A copy in which each id and field is a list: arrow-avro reads no maps of unions."""
    path, results = sampled
    changed_file = path.with_name(f"lists-{path.name}")
    maps = ("ids", "fields")

    def change(record: dict) -> dict:
        for result in record["results"]:
            for name in maps:
                pairs = result[name].items()
                result[name] = {key: [at] if isinstance(at, str) else at for key, at in pairs}
        return record

    with path.open("rb") as file, changed_file.open("wb") as target:
        reader = fastavro.reader(file)
        fields = deepcopy(reader.writer_schema["fields"])  # the reader needs its own
        schema = {"type": "record", "name": "Call", "fields": fields}
        (found,) = (field for field in fields if field["name"] == "results")
        for field in found["type"]["items"]["fields"]:
            if field["name"] in maps:
                field["type"] = {"type": "map", "values": {"type": "array", "items": "string"}}
        fastavro.writer(target, schema, map(change, reader), codec=reader.codec)
    return changed_file, results
