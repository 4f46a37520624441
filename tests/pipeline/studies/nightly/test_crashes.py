"""A job killed at any step keeps the published days, and the next job repairs the folder."""

import os
import shutil
from datetime import UTC, date, datetime, timedelta

import pytest

from goodgain.pipeline.studies.nightly.config import NightlyConfig
from goodgain.pipeline.studies.nightly.days import days as day_folders
from goodgain.pipeline.studies.nightly.dependencies import Dependencies
from goodgain.pipeline.studies.nightly.job import NightlyRequest, run_nightly
from tests.pipeline.studies.nightly.world import VIEWS, World

pytestmark = pytest.mark.slow
DAY = date(2025, 3, 2)
START = datetime(2025, 3, 3, 2, 30, tzinfo=UTC)


class KilledError(BaseException):
    """Simulates a killed process: a BaseException, so that the job does not handle it."""


class Crash:
    """Kills the job at its n-th change to a folder; `left` counts the steps that still work."""

    STEPS = ((os, "rename"), (os, "replace"), (os, "fsync"), (shutil, "rmtree"))

    def __init__(self, monkeypatch):
        self.left = None
        self.steps = 0
        for module, name in self.STEPS:
            monkeypatch.setattr(module, name, self._count(getattr(module, name)))

    def _count(self, step):
        def count_and_run(*arguments, **options):
            self.steps += 1
            if self.left is not None:
                self.left -= 1
                if self.left < 0:
                    raise KilledError
            return step(*arguments, **options)

        return count_and_run


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Outputs of a real run, which the jobs of these tests copy instead of computing them."""
    world = World(tmp_path_factory.mktemp("world"))
    world.configure(gate=None)
    world.make_traces(DAY, 12, seed=1)
    assert world.nightly("--date", str(DAY)) == 0
    return world.place(DAY)


class Job:
    """The job with a copy in place of a run, and with a clock that the test sets."""

    def __init__(self, folder, outputs):
        self.world = World(folder)
        self.world.trace_path(DAY).write_text("{}\n")
        self.outputs = outputs
        self.now = START
        self.config = NightlyConfig(
            input=str(self.world.folder / "traces/date={date}/*"), output=str(self.world.output)
        )

    def run(self, config, beam_arguments):
        shutil.copytree(self.outputs, config.output)
        for name in ("day.json", "report.html"):
            os.unlink(os.path.join(config.output, name))
        return 0

    def night(self):
        dependencies = Dependencies(
            VIEWS, now=lambda: self.now, run=self.run, say=lambda message: None
        )
        return run_nightly(self.config, NightlyRequest(day=DAY), (), dependencies)


@pytest.fixture(params=[True, False], ids=["exchange", "two renames"])
def job(request, tmp_path, outputs, monkeypatch):
    """A job on a system that can exchange two folders in one step, and on one that cannot."""
    if not request.param:
        monkeypatch.setattr(day_folders, "exchange", lambda one, other: False)
    monkeypatch.setattr("goodgain.pipeline.studies.nightly.night.find_inputs", lambda patterns: ())
    return Job(tmp_path, outputs)


def test_a_kill_at_any_step_loses_nothing(job, monkeypatch):
    crash = Crash(monkeypatch)
    assert job.night().exit_code == 0
    steps_of_first_night = crash.steps
    earlier, later = START, START + timedelta(hours=1)
    first = shutil.copytree(job.world.output, job.world.folder / "first")
    old = job.world.contents(DAY)
    job.now = later
    killed = 0
    for step in range(10 * steps_of_first_night):
        crash.left = None
        shutil.rmtree(job.world.output)
        shutil.copytree(first, job.world.output)

        crash.left = step
        try:
            job.night()
        except KilledError:
            killed += 1
        else:
            break
        crash.left = None
        if not job.world.place(DAY).exists():
            # Killed between the two renames: the old day still has its temporary name.
            assert job.world.hidden() == [f".date={DAY}.replaced", f".date={DAY}.unfinished"]
            job.world.place(DAY).with_name(f".date={DAY}.replaced").rename(job.world.place(DAY))
        assert job.world.contents(DAY) == old
        assert [entry["date"] for entry in job.world.history()] == [str(DAY)]
        assert job.world.history()[0]["started"] in (
            earlier.isoformat(timespec="seconds"),
            later.isoformat(timespec="seconds"),
        )

        job.night()
        assert job.world.contents(DAY) == old
        assert job.world.hidden() == []
        assert job.world.history() == [job.world.entry(DAY)]
        assert job.world.entry(DAY)["started"] == later.isoformat(timespec="seconds")
    assert killed > 5
    assert crash.left is not None  # the last night was not killed


def test_a_replaced_day_is_restored_if_its_successor_is_missing(job):
    job.night()
    place = job.world.place(DAY)
    place.rename(job.world.output / f".{place.name}.replaced")
    folders = day_folders.DayFolders(job.world.output)
    assert folders.repair() == [f".{place.name}.replaced"]
    assert folders.list_published_days() == [DAY]


def test_a_missing_or_damaged_history_is_rebuilt(job):
    job.night()
    whole = job.world.history()
    for damage in (b"", b'{"date": "20\n', None):
        history = job.world.output / "history.jsonl"
        history.unlink() if damage is None else history.write_bytes(damage)
        run_nightly(
            job.config,
            NightlyRequest(backfill=(DAY, DAY)),
            (),
            Dependencies(VIEWS, now=lambda: START, run=job.run, say=lambda message: None),
        )
        assert job.world.history() == whole


def test_a_rerun_that_fails_keeps_the_day(job):
    job.night()
    before, history = job.world.contents(DAY), job.world.history()
    job.outputs = job.world.folder / "nowhere"
    result = job.night()
    assert result.exit_code == 1
    assert "nowhere" in result.entries[0].reasons[0]
    assert job.world.contents(DAY) == before
    assert job.world.history() == history
    assert job.world.hidden() == []


def test_two_folders_exchange_their_names(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    (one / "a").write_text("a")
    if not day_folders.exchange(one, other):
        pytest.skip("this system cannot exchange names")
    assert (other / "a").read_text() == "a"
    assert list(one.iterdir()) == []
    assert not day_folders.exchange(one, tmp_path / "absent")
