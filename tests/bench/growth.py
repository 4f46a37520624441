"""How the cost of a result grows with the size of a run."""

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
    """CPU a result of each sample, and over that of the smallest.

    A machine's speed may change by half within minutes, so a sample is compared only with what was
    measured in the same turn, and the median of these ratios is given.

    Args:
      name: what the samples are.
      samples: by how many times larger than the smallest, which comes first, a trace file and how
        many results it holds.
      tiny: a trace file of one conversation; a run over it is all start-up.
      folder: where to run.
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
