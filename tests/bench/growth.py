"""Measures how the CPU per result grows with the size of a run."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import median

from tests.bench.processes import cost_of_run, in_turns
from tests.bench.rows import Row

_START_UP = 0  # times the smallest sample


def growth_rows(
    name: str, samples: Mapping[int, tuple[Path, int]], tiny: Path, folder: Path
) -> Iterator[Row]:
    """CPU per result of each sample, and its ratio to that of the smallest.

    A machine's speed may change by half within minutes, so samples are compared only within a turn;
    the row has the median of these ratios.

    Args:
      name: of the samples, for the rows.
      samples: by size, as a multiple of the smallest, which comes first: a trace file and its
        number of results.
      tiny: a trace file of `FEWEST` conversations; a run over it is all start-up.
      folder: for the outputs.
    """
    traces = {_START_UP: tiny, **{factor: trace for factor, (trace, _) in samples.items()}}
    measures = {factor: partial(cost_of_run, traces[factor], folder / "out") for factor in traces}
    turns = [
        {
            factor: (costs[factor].cpu - costs[_START_UP].cpu) / results
            for factor, (_, results) in samples.items()
        }
        for costs in in_turns(measures)
    ]
    first = next(iter(samples))
    for factor, (_, results) in samples.items():
        size = f"{name}, {results:,} results"
        cost = median(turn[factor] for turn in turns)
        yield Row(f"{size}: CPU a result", cost * 1e6, "us")
        if factor != first:
            growth = median(turn[factor] / turn[first] for turn in turns)
            yield Row(f"{size}: / that of {factor} times fewer", growth, "ratio", "1.1 or less")
