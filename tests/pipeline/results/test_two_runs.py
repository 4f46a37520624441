"""Of two overlapping runs into one folder only one publishes, in any order of their steps."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.folder import claim, unfinished_folder, write_file
from goodgain.pipeline.results.lock import LockedError, lock_output_folder
from goodgain.pipeline.results.output_kinds import RUN_OUTPUTS
from goodgain.pipeline.results.replacement import prepare
from goodgain.pipeline.results.sinks import WrittenFile
from goodgain.pipeline.run.hosts import batch as run_module
from goodgain.pipeline.run.hosts.finish import finish, start_time_in, write_summary
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.filesystems import delete
from tests.pipeline.run.hosts.test_finish import start_run
from tests.pipeline.runs import SAMPLE, manifest, run

NOW = datetime(2025, 3, 3, tzinfo=UTC)
PATH = "iterations/part-00000-of-00001.jsonl"


class Steps:
    """The steps of a run that change its folder, without the pipeline and one at a time.

    They take no lock, as on filesystems without locks.
    """

    def __init__(self, folder, name):
        self.folder, self.name, self.outcome = str(folder), name, None
        self.remaining = [self.prepare, self.claim, self.write, self.finish]

    def prepare(self):
        self.replaces = start_time_in(self.folder)
        prepare(self.folder, True, RUN_OUTPUTS)

    def claim(self):
        claim(self.folder, self.name)

    def write(self):
        unfinished = unfinished_folder(self.folder, self.name)
        write_file(f"{unfinished}/iterations", "part-00000-of-00001.jsonl", self.name.encode())
        write_file(unfinished, "means.csv", b"")
        write_summary(unfinished, [WrittenFile("iterations", PATH, 0)], {}, [], [])

    def finish(self):
        started = replace(
            start_run(self.folder, files=()),
            started=NOW + timedelta(seconds=len(self.name)),
            engine=self.name,
            area=self.name,
            replaces=self.replaces,
        )
        finish(started, NOW)
        self.outcome = "published"

    def step(self):
        if self.outcome is not None:
            return
        try:
            self.remaining.pop(0)()
        except (GoodGainError, OSError) as error:
            self.outcome = error


@pytest.fixture
def no_report(monkeypatch):
    monkeypatch.setattr("goodgain.pipeline.run.hosts.finish.read_means", lambda *_: iter(()))


@pytest.mark.parametrize("first", list(itertools.combinations(range(8), 4)), ids=str)
def test_without_locks_only_one_of_two_overlapping_runs_publishes(first, tmp_path, no_report):
    runs = Steps(tmp_path, "one"), Steps(tmp_path, "other")
    order = [0 if at in first else 1 for at in range(8)]
    for index in order:
        runs[index].step()
    one_after_the_other = order in ([0] * 4 + [1] * 4, [1] * 4 + [0] * 4)
    published = [run.name for run in runs if run.outcome == "published"]
    assert len(published) == (2 if one_after_the_other else 1)
    last = runs[order[-1]].name if one_after_the_other else published[0]
    assert manifest(tmp_path)["engine"] == last
    assert (tmp_path / PATH).read_text() == last
    assert not (tmp_path / ".unfinished" / last).exists()


@pytest.mark.slow
def test_second_run_fails_before_it_writes_anything(tmp_path, capsys, few):
    with lock_output_folder(str(tmp_path / "out")):
        assert run(tmp_path / "out", [few], "--overwrite") == ExitCode.FAILED
        assert list((tmp_path / "out").iterdir()) == []
    assert "Another run is writing to" in capsys.readouterr().err
    assert run(tmp_path / "out", [few]) == ExitCode.DONE


@pytest.mark.slow
def test_run_holds_the_lock_until_it_has_finished(tmp_path, monkeypatch):
    seen = []
    pipeline, finishing = run_module._run_pipeline, run_module.finish

    def while_locked(step, *arguments):
        with pytest.raises(LockedError), lock_output_folder(str(tmp_path / "out")):
            pass
        seen.append(step.__name__)
        return step(*arguments)

    monkeypatch.setattr(run_module, "_run_pipeline", lambda *one: while_locked(pipeline, *one))
    monkeypatch.setattr(run_module, "finish", lambda *one: while_locked(finishing, *one))
    assert run(tmp_path / "out", [SAMPLE]) == ExitCode.DONE
    assert seen == ["_run_pipeline", "finish"]
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]
    with lock_output_folder(str(tmp_path / "out")):
        pass


class TestLinks:
    """Nothing outside of the output folder changes through symbolic links."""

    @pytest.mark.parametrize("name", [".unfinished", "means", "manifest.json", "means/part-0"])
    @pytest.mark.parametrize("overwrite", [(), ("--overwrite",)])
    def test_rejects_a_link_in_the_folder(self, name, overwrite, tmp_path, capsys, few):
        outside = tmp_path / "outside"
        (outside / "means").mkdir(parents=True)
        (outside / "means" / "part-00000-of-00001.avro").write_text("mine")
        link = tmp_path / "out" / name
        link.parent.mkdir(parents=True)
        link.symlink_to(outside)
        assert run(tmp_path / "out", [few], *overwrite) == ExitCode.USAGE
        assert "a symbolic link; remove it" in capsys.readouterr().err
        assert (outside / "means" / "part-00000-of-00001.avro").read_text() == "mine"
        assert [path.name for path in outside.rglob("*")] == ["means", "part-00000-of-00001.avro"]

    @pytest.mark.slow
    def test_rejects_a_link_that_appears_during_the_run(self, tmp_path, monkeypatch, few):
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "mine").write_text("mine")
        finishing = run_module.finish

        def linked(*arguments):
            (tmp_path / "out" / "means").symlink_to(outside)
            return finishing(*arguments)

        monkeypatch.setattr(run_module, "finish", linked)
        assert run(tmp_path / "out", [few]) == ExitCode.USAGE
        assert [path.name for path in outside.iterdir()] == ["mine"]

    @pytest.mark.slow
    def test_the_output_folder_may_be_a_link(self, tmp_path, few):
        (tmp_path / "real").mkdir()
        (tmp_path / "out").symlink_to(tmp_path / "real")
        assert run(tmp_path / "out", [few]) == ExitCode.DONE
        assert manifest(tmp_path / "real")["records"]["read"] > 0

    def test_deleting_a_link_keeps_its_target(self, tmp_path):
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside" / "mine").write_text("mine")
        (tmp_path / "link").symlink_to(tmp_path / "outside")
        (tmp_path / "folder").mkdir()
        (tmp_path / "folder" / "link").symlink_to(tmp_path / "outside")
        delete(str(tmp_path / "link"))
        delete(f"{tmp_path / 'folder'}/")
        assert [path.name for path in tmp_path.rglob("*")] == ["outside", "mine"]
