"""Folders for what is watched and what is kept."""

import pytest


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "journal"
