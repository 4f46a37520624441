"""A user's metric is compared with the mean of earlier nights, and gated."""

import json
from datetime import date

import msgspec
import pytest

from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.finished_run import read_dataset, read_run
from goodgain.pipeline.studies.nightly.baseline import find_baseline
from goodgain.pipeline.studies.nightly.config import BaselineChoice
from goodgain.pipeline.studies.nightly.days.days import DayFolders
from goodgain.pipeline.studies.nightly.days.entry import entry_of_failure
from tests.pipeline.studies.nightly.world import World, build_page_elsewhere, edit_records

pytestmark = pytest.mark.slow

SOURCE = """
import goodgain


@goodgain.metric(unit="results", words="Best iteration", whole=True)
def best(prefix):
    return max((iteration.good for iteration in prefix.iterations), default=0)
"""
GATE = """
least_n: 5
rules:
  - {metric: best, drop_at_most: 1 %, proof: none}
"""
DAYS = [date(2025, 3, number) for number in (1, 2, 3)]


def best_of(folder):
    return [row["best"] for row in read_dataset(str(folder), "conversations")]


def lose_gain(record, number):
    """Leave good results in the first record only."""
    for result in record["results"]:
        result["gain"] = 0 if number else 2


def test_the_merged_baseline_keeps_the_metric(tmp_path):
    world = World(tmp_path)
    world.configure(baseline="mean of last 2")
    (tmp_path / "mine.py").write_text(SOURCE)
    (tmp_path / "run.yaml").write_text(f"metrics: [ndcg@10, {tmp_path / 'mine.py'}:best]\n")
    (tmp_path / "gate.yaml").write_text(GATE)
    for day in DAYS[:2]:
        world.make_traces(day, 12, seed=1)
        assert world.nightly("--date", str(day)) == ExitCode.DONE
    path = world.make_traces(DAYS[2], 12, seed=1)
    edit_records(path, lose_gain)
    assert world.nightly("--date", str(DAYS[2])) == ExitCode.REGRESSION
    manifest = read_run(str(world.place(DAYS[2])))
    choice = BaselineChoice.parse("mean of last 2")
    merged = find_baseline(choice, DAYS[2], manifest, DayFolders(world.output)).folder
    assert best_of(merged) == [value for day in DAYS[:2] for value in best_of(world.place(day))]
    assert max(best_of(merged)) > 0
    (reason,) = world.entry(DAYS[2])["reasons"]
    assert "Best iteration" in reason
    assert world.entry(DAYS[2])["changes"]["best"]["difference"] < 0
    assert "Best iteration" in build_page_elsewhere(world.output)


def test_the_page_leaves_out_a_metric_that_nothing_describes(tmp_path):
    mean = {"n": 3, "mean": 1.0, "ci_low": 0.5, "ci_high": 1.5}
    entry = entry_of_failure(DAYS[0], "no input", "2025-03-02T00:00:00+00:00", 1.0)
    line = json.loads(msgspec.json.encode(entry)) | {"means": {"CG": mean, "gone": mean}}
    (tmp_path / "history.jsonl").write_text(json.dumps(line))
    page = build_page_elsewhere(tmp_path)
    assert "2025-03-01" in page
    assert '"gone"' not in page
