"""`finish` when it is killed at any step, repeated, or run by two workers at once."""

import errno
import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

import goodgain.pipeline.run.hosts.finish
from goodgain.pipeline.document.model import Sentence
from goodgain.pipeline.document.report import Report
from goodgain.pipeline.results.folder import claim, format_time
from goodgain.pipeline.results.output_kinds import RUN_OUTPUTS
from goodgain.pipeline.results.replacement import prepare
from goodgain.pipeline.results.sinks import WrittenFile
from goodgain.pipeline.run.hosts.finish import StartedRun, finish, write_summary
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.run.plan.traces import TraceSet
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.transforms.core.errors import BalanceError, GoodGainError, UsageError
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.judgments.judgment import JudgmentPlace, QrelsProblem
from goodgain.transforms.core.warnings.field_names import SeenNames
from tests.core.direct import shipped_rules
from tests.pipeline.runs import plain_scoring

pytestmark = pytest.mark.slow

AREA = "own"
INPUT = InputFile("traces", 7)
STARTED = datetime(2025, 3, 3, 2, 30, tzinfo=UTC)
FINISHED = STARTED + timedelta(minutes=5)
FILES = ("iterations/part-00000-of-00001.avro", "means/part-00000-of-00001.avro")
EARLIER = (
    *("iterations/part-00000-of-00002.avro", "iterations/part-00001-of-00002.avro"),
    *("means/part-00000-of-00001.avro", "calls/part-00000-of-00001.avro"),
    *("report.html", "manifest.json"),
)
NO_GAIN = QrelsProblem(JudgmentPlace(0, 3, "line 4"), "no gain")


class KilledError(BaseException):
    """Simulates the death of a worker; no code may catch it."""


class Steps:
    """Counts the steps that change files, and calls a function before some of them.

    Attributes:
      waits: how many steps pass before the first call, then before the second, and so on.
      disturb: the function to call.
    """

    def __init__(self, monkeypatch):
        self.waits, self.disturb = [], None
        for module, name in (
            *((os, "rename"), (os, "makedirs"), (os, "replace"), (os, "unlink"), (os, "fsync")),
            (shutil, "rmtree"),
        ):
            monkeypatch.setattr(module, name, self._count_step(getattr(module, name)))

    def _count_step(self, step):
        def count_and_run(*arguments, **options):
            self._count()
            return step(*arguments, **options)

        return count_and_run

    def _count(self):
        if self.waits:
            self.waits[0] -= 1
            if self.waits[0] < 0:
                del self.waits[0]
                self.disturb()


@pytest.fixture
def steps(monkeypatch):
    monkeypatch.setattr(goodgain.pipeline.run.hosts.finish, "read_means", lambda *_: iter(()))
    return Steps(monkeypatch)


def start_run(folder, config=None, files=(INPUT,), qrels=(), scoring=None):
    config = config or RunConfig(input=("traces",), output=str(folder))
    traces = TraceSet(files, SeenNames(), shipped_rules(), "digest")
    return StartedRun(
        config=config,
        evaluation=Evaluation(config, traces, scoring or plain_scoring(), qrels=qrels),
        engine="SomeRunner",
        started=STARTED,
        area=AREA,
        replaces="2025-03-02T02:30:00.000+00:00",
        build_report=lambda _, manifest: Report(format_time(manifest.finished).encode()),
    )


def unfinished_run(folder, counts=None, problems=()):
    """A started run in a folder as the pipeline leaves it, over outputs of an earlier run."""
    for name in EARLIER:
        put(folder / name, f"earlier {name}")
    put(folder / "manifest.json", '{"started": "2025-03-02T02:30:00.000+00:00"}')
    prepare(str(folder), True, RUN_OUTPUTS)
    claim(str(folder), AREA)
    for name in (*FILES, "means.csv"):
        put(folder / ".unfinished" / AREA / name, f"new {name}")
    put(folder / ".unfinished" / AREA / "means.csv", "")
    files = [WrittenFile(name.split("/")[0], name, 1) for name in FILES]
    counts = {"bytes.read": INPUT.size, **(counts or {})}
    write_summary(str(folder / ".unfinished" / AREA), files, counts, list(problems), [])
    return start_run(folder)


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def contents(folder):
    paths = sorted(path for path in Path(folder).rglob("*") if not path.is_dir())
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


def assert_finished(folder):
    """Assert that the folder is as after one undisturbed `finish`; return end time and report."""
    found = contents(folder)
    assert sorted(found) == sorted([*FILES, "manifest.json", "means.csv", "report.html"])
    assert not (folder / ".unfinished").exists()
    assert {name: found[name] for name in FILES} == {name: f"new {name}" for name in FILES}
    manifest = json.loads(found["manifest.json"])
    assert manifest["started"] == STARTED.isoformat(timespec="milliseconds")
    assert manifest["datasets"] == {"iterations": 1, "means": 1}
    return manifest["finished"], found["report.html"]


def disturb_runs(tmp_path, steps, disturb, again=()):
    """Yield runs to finish: the first is disturbed at its first step, the next at its second."""
    number = 0
    while True:
        folder = tmp_path / str(number)
        run = unfinished_run(folder)
        steps.disturb = partial(disturb, run)
        steps.waits = [number, *again]
        yield folder, run
        if len(steps.waits) > len(again):
            assert number > 10
            return
        steps.waits = []
        number += 1


def kill(_):
    raise KilledError


@pytest.mark.parametrize("again", [(), (0,), (1,), (3,), (8,)])
def test_repeating_finish_after_a_kill_at_any_step_completes_the_run(again, tmp_path, steps):
    for folder, run in disturb_runs(tmp_path, steps, kill, again):
        for minute in range(3):
            try:
                finish(run, FINISHED + timedelta(minutes=minute))
            except KilledError:
                assert_whole_if_it_looks_finished(contents(folder))
        finished, report = assert_finished(folder)
        assert finished == report


def assert_whole_if_it_looks_finished(found):
    if "2025-03-02" not in found.get("manifest.json", "2025-03-02"):
        published = {name for name in found if not name.startswith(".unfinished/")}
        assert published == {*FILES, "means.csv", "report.html", "manifest.json"}
        assert {found[name] for name in FILES} == {f"new {name}" for name in FILES}


def test_another_worker_may_finish_at_any_step(tmp_path, steps):
    def other(run):
        finish(run, FINISHED + timedelta(minutes=1))

    for folder, run in disturb_runs(tmp_path, steps, other):
        try:
            finish(run, FINISHED)
        except GoodGainError:  # the other worker interfered; the engine retries the step
            finish(run, FINISHED)
        assert_finished(folder)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_at_any_step_is_named_and_space_asked_for(number, tmp_path, steps):
    def full(_):
        raise OSError(number, os.strerror(number))

    messages = set()
    for folder, run in disturb_runs(tmp_path, steps, full):
        try:
            finish(run, FINISHED)
        except GoodGainError as error:
            messages.add(str(error).replace(str(folder), "out"))
            finish(run, FINISHED)
        assert_finished(folder)
    assert messages == {
        "The disk is full, so the outputs cannot be moved to out; "
        "free space, then run again with --overwrite."
    }


def test_highlights_come_from_the_call_that_builds_the_report(tmp_path, steps):
    told = (Sentence("Worth looking at"),)
    run = replace(unfinished_run(tmp_path), build_report=lambda *_: Report(b"page", told))
    assert [finish(run, FINISHED).highlights for _ in range(2)] == [told, ()]


def test_finishing_again_changes_nothing(tmp_path, steps):
    run = unfinished_run(tmp_path)
    first = finish(run, FINISHED)
    before = contents(tmp_path)
    # An engine that retries the step also retries the one before it.
    write_summary(f"{run.folder}/.unfinished/{AREA}", [], {}, [], [])
    assert finish(run, FINISHED + timedelta(hours=1)) == first
    assert contents(tmp_path) == before


def test_replaces_a_truncated_manifest_of_an_earlier_run(tmp_path, steps):
    run = unfinished_run(tmp_path)
    put(tmp_path / "manifest.json", '{"started": ')
    finish(run, FINISHED)
    assert_finished(tmp_path)


@pytest.mark.parametrize(
    ("counts", "problems", "error", "message"),
    [
        ({"records.read": 1}, (), BalanceError, "1 record was read but 0 are accounted for"),
        ({"bytes.read": 6}, (), BalanceError, "6 of 7 bytes of input were read"),
        ({"conversations.total": 1}, (), BalanceError, "0 of 1 conversation was written"),
        ({"rows.rejected": 2}, (), BalanceError, "0 of 2 rejected rows were written"),
        ({}, [NO_GAIN], UsageError, "q:4: no gain"),
    ],
)
def test_unusable_outputs_raise_at_each_attempt_and_stay(
    counts, problems, error, message, tmp_path, steps
):
    unfinished_run(tmp_path, counts, problems)
    run = start_run(tmp_path, qrels=(InputFile("q", 1),))
    before = contents(tmp_path)
    for _ in range(2):
        with pytest.raises(error, match=message):
            finish(run, FINISHED)
    assert contents(tmp_path) == before


def test_publishes_too_many_rejected_records_and_flags_them(tmp_path, steps):
    run = unfinished_run(tmp_path, {"records.read": 2, "records.rejected": 2})
    assert finish(run, FINISHED).manifest.records.too_many_rejected


def test_detects_a_missing_file_before_replacing_anything(tmp_path, steps):
    run = unfinished_run(tmp_path)
    (tmp_path / ".unfinished" / AREA / FILES[0]).unlink()
    before = contents(tmp_path)
    with pytest.raises(GoodGainError, match="is missing"):
        finish(run, FINISHED)
    assert contents(tmp_path) == before
