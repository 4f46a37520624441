"""The page stays small whatever the run holds."""

from goodgain.pipeline.outputs.means import ALL_MEANS
from goodgain.pipeline.report.slices import MOST_ITERATIONS, read_slices, slice_data
from goodgain.transforms.core.scoring.registry import CONVERSATION_METRICS, ITERATION_METRICS

BYTES_FOR_DATA = 1_000_000  # what plotly leaves of 6 MB
NAMES = ("mean", "ci_low", "ci_high", "p10", "p50", "p90", "worst", "best", "min", "max")
VALUES = dict.fromkeys(NAMES, 1234.56789)


def means(slices, iterations):
    """Rows of `means` for so many slices besides everything, larger ones last."""
    for at in range(slices + 1):
        slice_ = {"user": f"u-{at:05}"} if at else {}
        common = {"slice": slice_, "n": 10_000 + at, "undefined": 0, **VALUES}
        for metric in CONVERSATION_METRICS:
            yield {**common, "metric": metric.name, "i": None, "population": "all"}
        for i in range(1, iterations + 1):
            for metric in ITERATION_METRICS:
                for population in ("reached", "all"):
                    yield {**common, "metric": metric.name, "i": i, "population": population}


def reader(rows):
    """Gives those of the rows that are wanted; not all rows of all slices."""
    held = list(rows)

    def read(wanted):
        for row in filter(wanted.takes, held):
            yield row
            assert wanted != ALL_MEANS or not row["slice"]

    return read


def size(slices):
    return sum(len(str(slice_data(one, {}))) for one in slices.shown)


def test_many_slices_leave_the_smallest_out_and_say_how_many():
    slices = read_slices(reader(means(200, 2)), [["user"]])
    assert len(slices.shown) + slices.left_out == 201
    assert slices.left_out > 0
    assert slices.everything.attributes == {}
    kept = {one.attributes["user"] for one in slices.shown[1:]}
    assert kept == {f"u-{at:05}" for at in range(200, slices.left_out, -1)}
    assert size(slices) < BYTES_FOR_DATA


def test_many_iterations_leave_slices_out_before_the_page_grows():
    slices = read_slices(reader(means(40, 60)), [["user"]])
    assert slices.iterations_left_out == 60 - MOST_ITERATIONS
    assert all(len(curve) == MOST_ITERATIONS for curve in slices.everything.curves["all"].values())
    assert size(slices) < BYTES_FOR_DATA


def test_slices_follow_the_order_that_was_asked_for():
    rows = list(means(0, 1))
    for names in (("b",), ("c", "a"), ("a",)):
        rows += [{**row, "slice": dict.fromkeys(sorted(names), "v")} for row in means(0, 1)]
    slices = read_slices(reader(rows), [["b"], ["c", "a"]])
    assert list(slices.dimensions) == [("b",), ("c", "a"), ("a",)]


def test_slice_without_a_value_is_named():
    rows = [{**row, "slice": {"market": ""}} for row in means(0, 1)]
    (one,) = read_slices(reader(rows), []).shown
    assert one.label == "market = (none)"
