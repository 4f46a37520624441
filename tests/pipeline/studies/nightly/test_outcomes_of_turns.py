"""Outcomes of turns, like right answers, stand in the history of nights and on its page."""

import json
import subprocess
import sys
from datetime import date

import pytest

from goodgain.pipeline.results.exit_codes import ExitCode
from tests.pipeline.studies.nightly.world import World

pytestmark = pytest.mark.slow

DAYS = [date(2025, 3, number) for number in (1, 2, 3)]


@pytest.mark.parametrize("baseline", ["previous_good", "mean of last 2"])
def test_a_bounded_outcome_is_kept_with_its_bound(tmp_path, baseline):
    world = World(tmp_path)
    world.configure(baseline=baseline)
    (tmp_path / "run.yaml").write_text("outcome: [rating>=0.5]\n")
    for day in DAYS:
        path = world.make_traces(day, 12, seed=1)
        records = [json.loads(line) for line in path.read_text().splitlines()]
        numbers = {}
        for record in records:
            number = numbers.setdefault(record["conversation_id"], len(numbers))
            record["outcomes"] = {"rating": number % 4 / 3}
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        assert world.nightly("--date", str(day)) == ExitCode.DONE
    lines = (world.output / "history.jsonl").read_text().splitlines()
    for entry in map(json.loads, lines):
        assert entry["outcomes"] == ["rating>=0.5"]
        assert entry["means"]["outcome.rating"]["mean"] == 0.5
    assert json.loads(lines[-1])["changes"]["outcome.rating"]["difference"] == 0
    # A process that has not scored the nights knows the bound, which makes shares.
    words = [sys.executable, "-m", "goodgain", "report", str(world.output)]
    done = subprocess.run(words, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    page = (world.output / "report.html").read_text()
    assert "Outcome rating of 0.5 or more" in page
    assert "50.0 %" in page
