import json
import os
from datetime import UTC, datetime

import pytest

from goodgain.pipeline.results.lock import LOCK, LockedError, lock_folder

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
