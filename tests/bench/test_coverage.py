"""The intervals cover as the page about them says, and its tables are those of the script."""

from pathlib import Path

import numpy as np
import pytest

from tests.bench.coverage import (
    DIFFERENCES,
    MEANS,
    intervals_of_difference,
    intervals_of_mean,
    of_differences,
    of_means,
    shares,
    table,
)

PAGE = Path(__file__).parents[2] / "docs" / "intervals.md"


@pytest.mark.parametrize("name", ["0.3-geometric", "60 % zeros, else geometric", "lognormal(1)"])
@pytest.mark.parametrize("n", [20, 100])
def test_hall_covers_skewed_means_where_student_misses(name, n):
    draw, true = MEANS[name]
    samples = draw(np.random.default_rng(n), (600, n))
    (student, _, misses), (hall, *_) = shares(samples, true, intervals_of_mean)
    assert hall > student
    assert hall >= 0.9
    assert misses > 0.03


@pytest.mark.parametrize("name", DIFFERENCES)
def test_hull_covers_differences_at_least_as_often_as_student(name):
    draw, true = DIFFERENCES[name]
    base, candidate = draw(np.random.default_rng(30), 600, 30, true)
    student, _, hull = shares(candidate - base, true, intervals_of_difference)
    assert hull[0] >= max(0.92, student[0])


@pytest.mark.slow
def test_tables_of_the_page_are_current():
    page = PAGE.read_text(encoding="utf-8")
    assert table(["values", "n", "Student", "Hall"], of_means()) in page
    heading = ["differences", "pairs", "Student", "Hall", "both (what is used)"]
    assert table(heading, of_differences()) in page
