"""Nights that go wrong in ways of their own, through the command line."""

import json

import pytest

from tests.pipeline.nightly.world import World

pytestmark = pytest.mark.slow
DAY = "2025-03-01"


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.configure()
    return world


def test_too_many_rejected_records(world):
    path = world.make_traces(DAY, 15, seed=1)
    path.write_text(path.read_text() + "{broken\n" * 20)
    assert world.nightly("--date", DAY) == 3
    (entry,) = world.history()
    assert (entry["verdict"], entry["exit_code"]) == ("bad data", 3)
    assert entry["counts"]["rejected"] == 20
    assert not (world.place(DAY) / "gate.md").exists()


def test_nothing_but_rejected_records(world):
    world.trace_path(DAY).write_text("{broken\n" * 3)
    assert world.nightly("--date", DAY) == 3
    assert world.entry(DAY)["changes"] == {}


def test_gravest_of_several_days(world):
    world.trace_path(DAY).write_text("{broken\n" * 3)
    assert world.nightly("--backfill", DAY, "2025-03-02") == 1
    assert world.verdicts() == {DAY: "bad data", "2025-03-02": "failed"}
    # Only what is not there is run again.
    assert world.nightly("--backfill", DAY, DAY) == 0


def test_mistakes_are_known_before_anything_is_written(world, capsys):
    world.make_traces(DAY, 15, seed=1)
    (world.folder / "run.yaml").write_text("metrcs: [map]\n")
    assert world.nightly("--date", DAY) == 2
    assert "metrcs is not an option; did you mean metrics?" in capsys.readouterr().err
    assert not world.output.exists()


def test_option_that_the_engine_refuses(world):
    world.make_traces(DAY, 15, seed=1)
    assert world.nightly("--date", DAY, "--no_such_option=1") == 2
    assert world.history()[0]["verdict"] == "failed"
    assert "--no_such_option is not an option" in world.history()[0]["reasons"][0]


def test_json(world, capsys):
    world.make_traces(DAY, 15, seed=1)
    capsys.readouterr()
    assert world.nightly("--date", DAY, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["entries"] == world.history()
    assert printed["late"] == []
