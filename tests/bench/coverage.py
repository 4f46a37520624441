"""Coverage of 95 % intervals for data with the distributions of search metrics.

    python -m tests.bench.coverage

prints the tables of `docs/intervals.md`; seeds are fixed. Takes a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from math import exp, sqrt

import numpy as np

from goodgain.transforms.core.comparison.samples import measure_moments
from goodgain.transforms.core.means.mean_row import CONFIDENCE, studentize
from goodgain.transforms.core.statistics import Studentized
from tests.core.comparison import populations

SAMPLES = 4_000
_SEED = 1992
Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def _zeros(generator: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return (generator.random(shape) >= 0.6) * generator.geometric(0.3, shape)


# By name: function that draws a sample, and the true mean.
MEANS: dict[str, tuple[Draw, float]] = {
    "normal": (lambda generator, shape: generator.normal(size=shape), 0.0),
    "0.3-geometric": (lambda generator, shape: generator.geometric(0.3, shape) - 1, 1 / 0.3 - 1),
    "60 % zeros, else geometric": (_zeros, 0.4 / 0.3),
    "lognormal(1)": (lambda generator, shape: generator.lognormal(0, 1, shape), exp(0.5)),
    "lognormal(1.5)": (lambda generator, shape: generator.lognormal(0, 1.5, shape), exp(1.125)),
    "beta(5, 2)": (lambda generator, shape: generator.beta(5, 2, shape), 5 / 7),
    "Student's t(3)": (lambda generator, shape: generator.standard_t(3, shape), 0.0),
}

# By name: function that draws pairs, and the true difference.
DIFFERENCES = {
    "normal": (populations.normal, 0.3),
    "precision of alike arms": (populations.precisions, 0.0),
    "gains of alike arms": (populations.gains, 0.0),
    "gains, one arm better": (populations.gains, 0.1),
    "rare changes": (populations.rare_changes, 0.005),
    "gains, a multiple of base": (populations.doubling, 0.1),
}


def intervals_of_mean(values: np.ndarray) -> Iterator[tuple[float, float]]:
    """Student's interval, then Hall's."""
    found = measure_moments(values, 0.0)
    n = found.n
    for interval in ("student", "hall"):
        one = studentize(found.mean, found.stddev / sqrt(n), n, found.asymmetry * sqrt(n), interval)
        yield one.interval(CONFIDENCE)


def intervals_of_difference(values: np.ndarray) -> Iterator[tuple[float, float]]:
    """Student's interval, Hall's, and the hull of both, which comparisons use."""
    found = measure_moments(values, 0.0)
    stderr = found.stddev / sqrt(found.n)
    for asymmetry, hull in ((0.0, False), (found.asymmetry, False), (found.asymmetry, True)):
        one = Studentized(found.mean, stderr, found.n - 1, asymmetry, hull)
        yield one.interval(CONFIDENCE)


def shares(
    samples: np.ndarray,
    true: float,
    intervals: Callable[[np.ndarray], Iterator[tuple[float, float]]],
) -> list[tuple[float, float, float]]:
    """For each interval: the shares of samples where it contains, exceeds or is below the truth."""
    spread = [sample for sample in samples if np.ptp(sample) > 1e-12]
    ends = np.array([list(intervals(sample)) for sample in spread])
    # With tied values an end often equals the truth except for rounding.
    above = (ends[:, :, 0] > true + 1e-9).mean(axis=0)
    below = (ends[:, :, 1] < true - 1e-9).mean(axis=0)
    return [(1 - less - other, less, other) for less, other in zip(above, below, strict=True)]


def of_means(samples: int = SAMPLES, sizes: tuple[int, ...] = (20, 100)) -> Iterator[list[str]]:
    """Rows: population, n, then Student's and Hall's coverage with the misses on each side."""
    for name, (draw, true) in MEANS.items():
        for n in sizes:
            generator = np.random.default_rng([_SEED, n])
            found = shares(draw(generator, (samples, n)), true, intervals_of_mean)
            yield [name, str(n), *map(_cell, found)]


def of_differences(
    samples: int = SAMPLES, sizes: tuple[int, ...] = (30, 150)
) -> Iterator[list[str]]:
    """Rows: population, n, then the coverage of Student's, Hall's and the hull."""
    for name, (draw, true) in DIFFERENCES.items():
        for n in sizes:
            base, candidate = draw(np.random.default_rng([_SEED, n]), samples, n, true)
            found = shares(candidate - base, true, intervals_of_difference)
            yield [name, str(n), *map(_cell, found)]


def _cell(share: tuple[float, float, float]) -> str:
    return f"{share[0]:.3f} ({share[1]:.3f} + {share[2]:.3f})"


def table(heading: list[str], rows: Iterator[list[str]]) -> str:
    """A table in Markdown."""
    return "".join(f"| {' | '.join(row)} |\n" for row in (heading, ["---"] * len(heading), *rows))


if __name__ == "__main__":
    sys.stdout.write(table(["values", "n", "Student", "Hall"], of_means()))
    sys.stdout.write("\n")
    heading = ["differences", "pairs", "Student", "Hall", "both (what is used)"]
    sys.stdout.write(table(heading, of_differences()))
