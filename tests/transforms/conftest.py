"""The folder that a source watches, and the folder of its journal."""

import pytest


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.fixture
def journal(tmp_path, monkeypatch):
    # No test cuts the power, and syncing each entry to disk would take most of the time.
    monkeypatch.setattr("os.fsync", lambda _: None)
    return tmp_path / "journal"
