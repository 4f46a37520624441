"""Files are replaced atomically, and synced to disk."""

import errno
import os

import pytest

from goodgain.pipeline.results.atomic_files import (
    replace_atomically,
    replace_named,
    write_named,
    write_whole,
)
from goodgain.transforms.core.errors import UsageError


def names(folder):
    return sorted(os.listdir(folder))


def test_the_file_appears_only_when_it_is_complete(tmp_path):
    with replace_atomically(tmp_path / "a.txt") as file:
        file.write(b"half")
        assert names(tmp_path) == [".a.txt.unfinished"]
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"half"


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_the_old_file_is_kept_if_writing_fails(error, tmp_path):
    write_whole(tmp_path / "a.txt", b"old")

    def write_then_fail():
        with replace_atomically(tmp_path / "a.txt") as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        write_then_fail()
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"old"


def test_a_file_that_a_user_named_stays_whole_and_is_blamed_if_it_cannot_be_written(tmp_path):
    write_named(tmp_path / "a.txt", b"old")

    def run_out_of_space():
        with replace_named(tmp_path / "a.txt") as file:
            file.write(b"ne")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(UsageError, match=r"a\.txt cannot be written: No space left on device\."):
        run_out_of_space()
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"old"
    with pytest.raises(UsageError, match=r"no/a\.txt cannot be written: No such file"):
        write_named(tmp_path / "no/a.txt", b"new")


def test_content_is_synced_before_the_rename_and_the_folder_after_it(tmp_path, monkeypatch):
    steps = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(
        os, "fsync", lambda one: steps.append(os.readlink(f"/proc/self/fd/{one}")) or fsync(one)
    )
    monkeypatch.setattr(os, "replace", lambda *names: steps.append("replace") or replace(*names))
    write_whole(tmp_path / "a.txt", b"content")
    assert steps == [str(tmp_path / ".a.txt.unfinished"), "replace", str(tmp_path)]


def test_a_pipe_is_written_to_and_stays(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(tmp_path / "pipe", b"content")
        assert os.read(reader, 100) == b"content"
    finally:
        os.close(reader)
    assert (tmp_path / "pipe").is_fifo()
    assert names(tmp_path) == ["pipe"]


def test_a_stream_is_written_to_and_its_link_stays(tmp_path):
    """As /dev/fd/3 is, which links to an open file; here by a link of our own to its place."""
    with open(tmp_path / "redirected", "wb") as file:
        path = f"/proc/self/fd/{file.fileno()}"
        write_whole(path, b"content")
        assert os.path.islink(path)
    assert (tmp_path / "redirected").read_bytes() == b"content"
    assert names(tmp_path) == ["redirected"]


def test_standard_output_is_refused_since_a_summary_goes_there(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    of_pipe, fstat = os.stat(tmp_path / "pipe"), os.fstat
    monkeypatch.setattr(os, "fstat", lambda number: of_pipe if number == 1 else fstat(number))
    with pytest.raises(UsageError, match="pipe is standard output"):
        write_whole(tmp_path / "pipe", b"content")


def test_a_device_is_never_replaced(monkeypatch):
    monkeypatch.setattr(os, "replace", lambda *_: pytest.fail("replaced"))
    write_whole("/dev/null", b"content")
