"""The tutorial: its commands run in order, and print what it shows."""

import re
from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main
from tests.page_commands import arguments_of, write_files

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
INSTALL = "pip install .\n"

pytestmark = pytest.mark.slow


def test_every_command_prints_what_the_page_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    printed, shown = "", 0
    for language, block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(block, str(PAGE), "exec"), {})
        elif language == "sh" and block != INSTALL:
            printed = ""
            for arguments in arguments_of(write_files(block, tmp_path)):
                assert main(arguments) == 0, arguments
            printed = " ".join(capsys.readouterr().out.split())
        elif language == "text":
            for line in block.splitlines():
                assert " ".join(line.split()) in printed
                shown += 1
    assert shown > 10
    assert (tmp_path / "out-base" / "report.html").exists()
