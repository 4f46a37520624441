"""Two weeks of nights, seen through the command line, exit codes and files."""

import os
import signal
import subprocess
import sys

import pytest

from goodgain.pipeline.__main__ import main
from tests.named_pipes import open_with
from tests.pipeline.studies.nightly.world import World, edit_results

pytestmark = pytest.mark.slow


def day(number):
    return f"2025-03-{number:02}"


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    for number in range(1, 15):
        if number != 11:
            world.make_traces(day(number), 20 + number, seed=number)
    return world


# A metric that waits until something is written to a pipe.
WAIT = """
import goodgain


@goodgain.metric(unit="results", words="Endless")
def endless(prefix):
    return len(open({pipe!r}).read())
"""


def kill_while_scoring(world, date, while_it_runs):
    """Start the job on a day with an endless metric, call `while_it_runs`, and kill the job."""
    pipe, metric, settings = (world.folder / name for name in ("pipe", "wait.py", "run.yaml"))
    os.mkfifo(pipe)
    metric.write_text(WAIT.format(pipe=str(pipe)))
    usual = settings.read_text()
    settings.write_text(usual.replace("ndcg@10", f"ndcg@10, {metric}:endless"))
    command = [sys.executable, "-m", "goodgain", "nightly", "--config", str(world.config)]
    process = subprocess.Popen([*command, "--date", date], stderr=subprocess.DEVNULL)
    try:
        with open_with(process, pipe, "wb"):
            while_it_runs(process.pid)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
    finally:
        process.kill()
        process.wait()
        settings.write_text(usual)


def test_two_weeks_of_nights(world, capsys):
    world.configure()

    for number in range(1, 5):
        assert world.nightly("--date", day(number)) == 0
    assert world.entry(day(1))["baseline"] == []
    assert "not compared with a baseline" in world.entry(day(1))["notes"][0]
    assert [world.entry(day(n))["baseline"] for n in (2, 3, 4)] == [
        [day(1)],
        [day(2)],
        [day(3)],
    ]
    sizes = [world.entry(day(n))["counts"]["conversations"] for n in range(1, 5)]
    assert sizes == [21, 22, 23, 24]
    assert world.notifications() == []

    # The labels are missing: the day is published for inspection, but it is not good.
    edit_results(world.trace_path(day(5)), lambda result: result.update(gain=None))
    assert world.nightly("--date", day(5)) == 3
    assert world.verdicts()[day(5)] == "bad data"
    assert "has a label" in world.entry(day(5))["reasons"][0]
    assert [warning["code"] for warning in world.entry(day(5))["warnings"]] == ["no_labels"]
    assert "| no\\_labels |" in (world.output / "history.md").read_text()
    assert (world.place(day(5)) / "report.html").exists()
    (notification,) = world.notifications()
    assert notification["day"]["date"] == day(5)
    assert notification["text"].startswith(f"Good Gain, {day(5)}: bad data: None of the")
    assert notification["folder"] == str(world.place(day(5)))

    assert world.nightly("--date", day(6)) == 0
    assert world.entry(day(6))["baseline"] == [day(4)]
    recovery = world.notifications()[-1]["text"]
    assert recovery == f"Good Gain, {day(6)}: passed: after a day that did not pass"

    # A regression: the agent finds far fewer good results.
    edit_results(
        world.trace_path(day(7)),
        lambda result: result.update(gain=2 if result["gain"] == 4 else min(result["gain"], 1)),
    )
    assert world.nightly("--date", day(7)) == 4
    assert "change of Gain (CG)" in world.entry(day(7))["reasons"][0]
    assert world.entry(day(7))["changes"]["CG"]["difference"] < 0
    assert world.entry(day(7))["changes"]["CG"]["verdict"] == "worse"
    assert world.notifications()[-1]["day"]["date"] == day(7)

    # Two jobs at once, then a crash in the middle of writing.
    before = {n: world.contents(day(n)) for n in (6, 7)}
    history = world.history()

    def second_start(pid):
        assert world.hidden() == [f".date={day(8)}.unfinished"]
        capsys.readouterr()
        assert world.nightly("--date", day(9)) == 1
        error = capsys.readouterr().err
        assert f"process {pid} on" in error
        assert "nothing was done" in error
        assert not world.place(day(9)).exists()

    kill_while_scoring(world, day(8), second_start)
    assert not world.place(day(8)).exists()
    assert {n: world.contents(day(n)) for n in (6, 7)} == before
    assert world.history() == history
    assert len(world.notifications()) == 3  # the refused job sends no notification

    capsys.readouterr()
    assert world.nightly("--date", day(8)) == 0
    assert f".date={day(8)}.unfinished, left by an interrupted job" in capsys.readouterr().err
    assert world.hidden() == []
    assert world.entry(day(8))["baseline"] == [day(6)]
    assert world.nightly("--date", day(9)) == 0

    # A file of day 6 arrives late.
    world.make_traces(day(6), 5, seed=100, name="late")
    assert world.nightly("--date", day(10)) == 0
    late_notice = f"Input changed since the run of {day(6)}: 1 added"
    assert late_notice in capsys.readouterr().out
    assert f"{day(6)}: 1 added" in (world.output / "history.md").read_text()
    assert world.entry(day(6))["counts"]["conversations"] == 26
    assert world.nightly("--date", day(10), "--rerun-late") == 0
    assert world.entry(day(6))["counts"]["conversations"] == 31
    assert late_notice not in capsys.readouterr().out

    # No input: the job fails, and published days stay.
    assert world.nightly("--date", day(11)) == 1
    assert world.verdicts()[day(11)] == "failed"
    assert not world.place(day(11)).exists()
    assert "No input for 2025-03-11" in world.notifications()[-1]["text"]
    assert world.nightly("--date", day(12)) == 0
    assert world.entry(day(12))["baseline"] == [day(10)]

    # The input arrives; a backfill runs it and the days that were never run.
    world.make_traces(day(11), 31, seed=11)
    untouched = (world.place(day(12)) / "manifest.json").stat().st_mtime_ns
    assert world.nightly("--backfill", day(1), day(14)) == 0
    assert (world.place(day(12)) / "manifest.json").stat().st_mtime_ns == untouched
    assert world.entry(day(11))["baseline"] == [day(10)]

    # A rerun gives the same bytes, and no second entry.
    once = world.contents(day(14))
    assert world.nightly("--date", day(14)) == 0
    assert world.contents(day(14)) == once

    expected = {day(number): "passed" for number in range(1, 15)}
    expected |= {day(5): "bad data", day(7): "gate failed"}
    assert [entry["date"] for entry in world.history()] == list(expected)
    assert world.verdicts() == expected
    assert [summary["day"]["date"] for summary in world.notifications()] == [
        day(number) for number in (5, 6, 7, 8, 11, 12, 11)
    ]
    assert world.hidden() == []
    report = world.output / "report.html"
    page = report.read_bytes()
    assert all(f"date={day(number)}/report.html".encode() in page for number in range(1, 15))
    assert main(["report", str(world.output)]) == 0
    assert report.read_bytes() == page
