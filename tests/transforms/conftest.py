"""Folders for what is watched and what is kept."""

import pytest


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.fixture
def journal(tmp_path, monkeypatch):
    # No test cuts the power, and to wait until each entry is on the disk takes most of the time.
    monkeypatch.setattr("os.fsync", lambda _: None)
    return tmp_path / "journal"
