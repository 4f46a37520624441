"""Nights with bad data, no data or wrong options, through the command line."""

import json

import pytest

from tests.pipeline.studies.nightly.world import World

pytestmark = pytest.mark.slow
DAY = "2025-03-01"


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.configure()
    return world


def test_too_many_rejected_records_are_bad_data(world):
    path = world.make_traces(DAY, 15, seed=1)
    path.write_text(path.read_text() + "{broken\n" * 20)
    assert world.nightly("--date", DAY) == 3
    (entry,) = world.history()
    assert (entry["verdict"], entry["exit_code"]) == ("bad data", 3)
    assert entry["counts"]["rejected"] == 20
    (reason,) = entry["reasons"]
    assert reason.startswith("20 of ")
    assert reason.endswith("max_rejected = 5%")
    assert not (world.place(DAY) / "gate.md").exists()


def test_a_day_with_only_rejected_records_has_no_changes(world):
    world.trace_path(DAY).write_text("{broken\n" * 3)
    assert world.nightly("--date", DAY) == 3
    assert world.entry(DAY)["changes"] == {}


def test_a_backfill_ends_with_the_exit_code_of_its_worst_day(world):
    world.trace_path(DAY).write_text("{broken\n" * 3)
    assert world.nightly("--backfill", DAY, "2025-03-02") == 1
    assert world.verdicts() == {DAY: "bad data", "2025-03-02": "failed"}
    # A day that already has outputs is not run again.
    assert world.nightly("--backfill", DAY, DAY) == 0


def test_mistakes_in_the_configuration_are_reported_before_writing(world, capsys):
    world.make_traces(DAY, 15, seed=1)
    (world.folder / "run.yaml").write_text("metrcs: [map]\n")
    assert world.nightly("--date", DAY) == 2
    assert "metrcs is not an option; did you mean metrics?" in capsys.readouterr().err
    assert not world.output.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--no_such_option=1"],
            "--no_such_option is not an option of `goodgain nightly`, nor of Beam with "
            "DirectRunner; see `goodgain nightly --help`.",
        ),
        (["--runner", "Foo"], "Runner Foo is unknown; use one of DirectRunner, "),
    ],
)
def test_a_wrong_option_is_refused_before_any_day_is_run(world, capsys, words, message):
    world.make_traces(DAY, 15, seed=1)
    capsys.readouterr()
    assert world.nightly("--date", DAY, *words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"goodgain: {message}")
    assert not (world.output / "history.jsonl").exists()


def test_json_has_the_entries_of_the_history(world, capsys):
    world.make_traces(DAY, 15, seed=1)
    capsys.readouterr()
    assert world.nightly("--date", DAY, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["entries"] == world.history()
    assert printed["late"] == []
