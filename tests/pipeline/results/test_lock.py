import fcntl
import json
import os
from datetime import UTC, datetime

import pytest

from goodgain.pipeline.results.lock import LOCK, LockedError, lock_folder, remove_if_empty
from goodgain.transforms.core.errors import UsageError

START = datetime(2025, 3, 3, 2, 30, tzinfo=UTC)


def test_error_names_the_process_that_holds_the_lock(tmp_path):
    with (
        lock_folder(tmp_path, START),
        pytest.raises(LockedError, match=f"process {os.getpid()} on .*, since 2025-03-03T02:30:00"),
        lock_folder(tmp_path, START),
    ):
        pass


def test_lock_is_free_after_the_block(tmp_path):
    for _ in range(2):
        with lock_folder(tmp_path, START):
            assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()


def test_lock_is_free_after_an_exception(tmp_path):
    with pytest.raises(RuntimeError), lock_folder(tmp_path, START):
        raise RuntimeError
    with lock_folder(tmp_path, START):
        pass


def test_takes_over_the_lock_of_a_dead_process(tmp_path):
    (tmp_path / LOCK).write_text('{"pid": 1, "host": "elsewhere", "started": "long ago"}\n')
    with lock_folder(tmp_path, START):
        assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()


@pytest.mark.parametrize("content", ["", "{", "[]", "{}"])
def test_lock_holds_even_if_its_file_does_not_name_the_holder(tmp_path, content):
    with lock_folder(tmp_path, START):
        (tmp_path / LOCK).write_text(content)
        with pytest.raises(LockedError, match="nothing was done"), lock_folder(tmp_path, START):
            pass


def test_a_job_that_fails_takes_away_the_lock_file_that_it_made(tmp_path):
    with pytest.raises(RuntimeError), lock_folder(tmp_path, START):
        raise RuntimeError
    assert not (tmp_path / LOCK).exists()
    with lock_folder(tmp_path, START):
        pass
    with pytest.raises(RuntimeError), lock_folder(tmp_path, START):
        raise RuntimeError
    assert (tmp_path / LOCK).exists()


def test_a_lock_file_that_was_removed_after_it_was_opened_is_no_lock(tmp_path, monkeypatch):
    """Another job may make a new one, and both would hold a lock."""
    lock = fcntl.flock

    def lock_too_late(file, how):
        (tmp_path / LOCK).unlink()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", lock_too_late)
    with pytest.raises(LockedError), lock_folder(tmp_path, START):
        pass


def test_a_new_folder_that_stays_empty_goes_again(tmp_path):
    (tmp_path / "old").mkdir()
    for name in ("new/new", "old/new", "old"):
        with remove_if_empty(str(tmp_path / name)):
            (tmp_path / name).mkdir(parents=True, exist_ok=True)
    assert list(tmp_path.rglob("*")) == [tmp_path / "old"]


def test_a_new_folder_with_a_file_stays(tmp_path):
    with remove_if_empty(str(tmp_path / "a" / "b")):
        (tmp_path / "a" / "b").mkdir(parents=True)
        (tmp_path / "a" / "file").touch()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["file"]


def test_folders_on_other_filesystems_and_those_that_are_not_made_are_no_mistakes(tmp_path):
    for folder in ("gs://bucket/out", str(tmp_path / "out")):
        with remove_if_empty(folder):
            pass


def test_a_file_in_place_of_the_folder_is_a_mistake_of_the_user(tmp_path):
    (tmp_path / "pool").touch()
    with (
        pytest.raises(UsageError, match=r"pool cannot be written to .Not a directory"),
        lock_folder(tmp_path / "pool", START),
    ):
        pass
