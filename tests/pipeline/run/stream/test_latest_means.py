from goodgain.pipeline.run.stream.datasets import MEANS, WARNINGS
from goodgain.pipeline.run.stream.latest_panes import read_latest_means, read_latest_warnings
from goodgain.pipeline.run.stream.pane_files import StreamTarget, write_pane
from goodgain.pipeline.run.stream.panes import Pane
from tests.pipeline.run.stream.rows import NOON


def mean(pane, n, *, metric="CG", window=NOON, slice_=None):
    blank = dict.fromkeys((column.name for column in MEANS.columns), None)
    return {
        **blank,
        "window_start": window,
        "window_end": window + 1,
        "pane": pane,
        "is_last": False,
        "slice": slice_ or {},
        "metric": metric,
        "population": "all",
        "n": n,
        "undefined": 0,
    }


def test_means_are_of_the_greatest_pane(tmp_path):
    rows = [
        mean(0, 100),
        mean(1, 101),
        mean(0, 1, metric="DCG"),
        mean(3, 5, window=NOON + 1),
        mean(2, 4, window=NOON + 1),
        mean(0, 9, slice_={"arm": "A"}),
    ]
    for number, row in enumerate(rows):
        pane = Pane(NOON, 0, 1, number, "0")
        write_pane(StreamTarget(str(tmp_path), "jsonl", 1, 1, 1), pane, MEANS, [row])
    found = {
        (row["window_start"], row["metric"], *row["slice"].values()): row["n"]
        for row in read_latest_means(str(tmp_path))
    }
    assert found == {
        (NOON, "CG"): 101,
        (NOON, "DCG"): 1,
        (NOON + 1, "CG"): 5,
        (NOON, "CG", "A"): 9,
    }


def warning(pane, code, window=NOON):
    return {
        "window_start": window,
        "window_end": window + 1,
        "pane": pane,
        "is_last": False,
        "code": code,
        "count": 1,
        "share": None,
        "message": "m",
        "remedy": "r",
    }


def test_warnings_are_those_of_the_latest_pane(tmp_path):
    rows = [
        warning(0, "no_labels"),
        warning(1, "few_labels"),
        warning(1, "odd_times"),
        warning(0, "no_labels", NOON + 1),
        warning(2, "none", NOON + 1),
        warning(1, "few_labels", NOON + 1),
    ]
    for number, row in enumerate(rows):
        pane = Pane(NOON, 0, 1, number, "0")
        write_pane(StreamTarget(str(tmp_path), "jsonl", 1, 1, 1), pane, WARNINGS, [row])
    found = read_latest_warnings(str(tmp_path))
    assert [(row["window_start"], row["code"]) for row in found] == [
        (NOON, "few_labels"),
        (NOON, "odd_times"),
    ]
    assert read_latest_warnings(str(tmp_path / "missing")) == []
