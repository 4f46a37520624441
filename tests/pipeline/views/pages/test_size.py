"""Pages stay small with many slices and iterations."""

from importlib.resources import files

import pytest

import goodgain as gg
from goodgain.pipeline.results.wanted_means import ALL_MEANS
from goodgain.pipeline.views.pages.data.slice_numbers import slice_data
from goodgain.pipeline.views.pages.data.slices import MOST_ITERATIONS, read_slices
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS
from goodgain.transforms.core.metrics.iteration_gains import GAINS

BYTES_FOR_DATA = 2_500_000
MOST_BYTES = 1_500_000
SAMPLE = str(files("goodgain.configs").joinpath("data/sample.avro"))
NAMES = ("mean", "ci_low", "ci_high", "p10", "p50", "p90", "worst", "best", "min", "max")
VALUES = dict.fromkeys(NAMES, 1234.56789)


def means(slices, iterations):
    """Rows of `means` for all conversations and for slices in ascending size."""
    for at in range(slices + 1):
        slice_ = {"user": f"u-{at:05}"} if at else {}
        common = {"slice": slice_, "n": 10_000 + at, "undefined": 0, **VALUES}
        for metric in CONVERSATION_METRICS:
            yield {**common, "metric": metric.name, "i": None, "population": "all"}
        for i in range(1, iterations + 1):
            for metric in GAINS.by_i:
                for population in ("reached", "all"):
                    yield {**common, "metric": metric.name, "i": i, "population": population}


def reader(rows):
    """A function that yields the wanted rows; it fails if all means of slices are read."""
    all_rows = list(rows)

    def read(wanted):
        for row in filter(wanted.takes, all_rows):
            yield row
            assert wanted != ALL_MEANS or not row["slice"]

    return read


def size(slices):
    return sum(len(str(slice_data(slice_, {}))) for slice_ in slices.shown)


def test_the_smallest_of_many_slices_are_left_out_and_counted():
    slices = read_slices(reader(means(200, 2)), [["user"]])
    assert len(slices.shown) + slices.left_out == 201
    assert slices.left_out > 0
    assert slices.everything.attributes == {}
    kept = {slice_.attributes["user"] for slice_ in slices.shown[1:]}
    assert kept == {f"u-{at:05}" for at in range(200, slices.left_out, -1)}
    assert size(slices) < BYTES_FOR_DATA


@pytest.mark.slow
def test_many_iterations_are_truncated_and_the_page_stays_small():
    slices = read_slices(reader(means(40, 60)), [["user"]])
    assert slices.iterations_left_out == 60 - MOST_ITERATIONS
    assert all(len(curve) == MOST_ITERATIONS for curve in slices.everything.curves["all"].values())
    assert size(slices) < BYTES_FOR_DATA


def test_slices_are_in_the_requested_order():
    rows = list(means(0, 1))
    for names in (("b",), ("c", "a"), ("a",)):
        rows += [{**row, "slice": dict.fromkeys(sorted(names), "v")} for row in means(0, 1)]
    slices = read_slices(reader(rows), [["b"], ["c", "a"]])
    assert list(slices.dimensions) == [("b",), ("c", "a"), ("a",)]


def test_slice_without_a_value_is_named_none():
    rows = [{**row, "slice": {"market": ""}} for row in means(0, 1)]
    (one,) = read_slices(reader(rows), []).shown
    assert one.label == "market = (none)"


@pytest.mark.slow
def test_pages_of_a_run_and_a_comparison_are_small_although_they_have_their_library(tmp_path):
    run = gg.evaluate(SAMPLE, slices=["market", "arm", "model"])
    run.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < MOST_BYTES
    gg.compare(run, run).report(tmp_path / "compared.html")
    assert (tmp_path / "compared.html").stat().st_size < MOST_BYTES


def test_a_slice_of_fewer_than_ten_conversations_draws_no_band():
    rows = [{**row, "n": 9 if row["slice"] == {"user": "u-00001"} else 10} for row in means(2, 2)]
    drawn = {
        str(slice_.attributes.get("user")): slice_data(slice_, {})["curves"]["all"]["CG_at_i"]
        for slice_ in read_slices(reader(rows), [["user"]]).shown
    }
    banded = {name: any(map(any, curve[1:3])) for name, curve in drawn.items()}
    assert banded == {"None": True, "u-00001": False, "u-00002": True}


def test_a_band_ends_where_fewer_than_ten_conversations_are_left():
    rows = [{**row, "n": 9 if row["i"] == 3 else 10} for row in means(0, 3)]
    (one,) = read_slices(reader(rows), []).shown
    drawn, low, high, _ = slice_data(one, {})["curves"]["reached"]["CG_at_i"]
    assert [value is None for value in (*low, *high)] == [False, False, True] * 2
    assert None not in drawn
