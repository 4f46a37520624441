"""The commands of the page about pools work unchanged, one after the other."""

import os
import re
import stat
import sys
from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.exit_codes import ExitCode
from tests.page_commands import words_of, written

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "pools.md"


@pytest.mark.slow
def test_commands_work(tmp_path, monkeypatch, capsys):
    """Runs them in this process, since each takes seconds to start; other programs are started."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 6
    programs = tmp_path / "bin"
    programs.mkdir()
    python = programs / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", os.pathsep.join((str(programs), os.environ["PATH"])))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    for block in blocks:
        for words in words_of(written(block, work)):
            assert main(words) == ExitCode.DONE, words
    said = capsys.readouterr().out
    assert "need no label of their own" in said
    assert "pool_recall" in said
