"""The page about pools: its commands work as they stand, one after the other."""

import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.exit_codes import ExitCode

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "pools.md"


HERE = re.compile(r"cat > (\S+) <<'(\w+)'\n(.*?)^\2\n", re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_commands_work(tmp_path, monkeypatch, capsys):
    """In this process, since each command would take seconds to start; their programs in others."""
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
        for written in HERE.finditer(block):
            subprocess.run(["sh", "-e", "-c", written.group()], check=True)
        for command in HERE.sub("", block).splitlines():
            program, *words = shlex.split(command)
            assert program == "goodgain"
            assert main(words) == ExitCode.DONE, command
    said = capsys.readouterr().out
    assert "need no label of their own" in said
    assert "pool_recall" in said
