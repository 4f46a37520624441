"""The commands of the page about pools run unchanged, one after the other."""

import os
import re
import stat
import sys
from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from tests.page_commands import arguments_of, write_files

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs" / "pools.md"


@pytest.mark.slow
def test_all_commands_succeed(tmp_path, monkeypatch, capsys):
    """Commands run in this process, since each takes seconds to start; the judge is a process."""
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
        for arguments in arguments_of(write_files(block, work)):
            assert main(arguments) == ExitCode.DONE, arguments
    printed = capsys.readouterr().out
    assert "need no label of their own" in printed
    assert "30 topics that both arms searched" in printed
    assert "The candidate is better by Recall of the pool" in " ".join(printed.split())
