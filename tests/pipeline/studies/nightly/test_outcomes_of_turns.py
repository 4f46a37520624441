"""Outcomes of turns, like right answers, stand in the history of nights and on its page."""

from datetime import date

import pytest

from goodgain.pipeline.results.exit_codes import ExitCode
from tests.pipeline.studies.nightly.world import World, build_page_elsewhere, edit_records

pytestmark = pytest.mark.slow

DAYS = [date(2025, 3, number) for number in (1, 2, 3)]


@pytest.mark.parametrize("baseline", ["previous_good", "mean of last 2"])
def test_a_bounded_outcome_is_kept_with_its_bound(tmp_path, baseline):
    world = World(tmp_path)
    world.configure(baseline=baseline)
    (tmp_path / "run.yaml").write_text("outcome: [rating>=0.5]\n")
    for day in DAYS:
        path = world.make_traces(day, 12, seed=1)
        numbers = {}

        def rate(record, _, numbers=numbers):
            number = numbers.setdefault(record["conversation_id"], len(numbers))
            record["outcomes"] = {"rating": number % 4 / 3}

        edit_records(path, rate)
        assert world.nightly("--date", str(day)) == ExitCode.DONE
    history = world.history()
    for entry in history:
        assert entry["outcomes"] == ["rating>=0.5"]
        assert entry["means"]["outcome.rating"]["mean"] == 0.5
    assert history[-1]["changes"]["outcome.rating"]["difference"] == 0
    # The bound makes shares.
    page = build_page_elsewhere(world.output)
    assert "Outcome rating of 0.5 or more" in page
    assert "50.0 %" in page
