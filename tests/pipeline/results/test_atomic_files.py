"""Files are replaced atomically, and synced to disk."""

import os

import pytest

from goodgain.pipeline.results.atomic_files import replace_atomically, write_whole


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


def test_content_is_synced_before_the_rename_and_the_folder_after_it(tmp_path, monkeypatch):
    steps = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(
        os, "fsync", lambda one: steps.append(os.readlink(f"/proc/self/fd/{one}")) or fsync(one)
    )
    monkeypatch.setattr(os, "replace", lambda *names: steps.append("replace") or replace(*names))
    write_whole(tmp_path / "a.txt", b"content")
    assert steps == [str(tmp_path / ".a.txt.unfinished"), "replace", str(tmp_path)]


def test_the_unfinished_file_can_be_in_another_folder(tmp_path):
    (tmp_path / "unfinished").mkdir()
    with replace_atomically(tmp_path / "a.txt", tmp_path / "unfinished" / "b") as file:
        file.write(b"content")
        assert names(tmp_path / "unfinished") == ["b"]
    assert names(tmp_path) == ["a.txt", "unfinished"]
    assert names(tmp_path / "unfinished") == []
