"""Pages whose commands run in order, and print what the page shows."""

import re
from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main
from tests.page_commands import arguments_of, write_files

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
INSTALL = "pip install .\n"
TUTORIAL = "tutorial.md"

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("page", "written", "shown"),
    [
        (TUTORIAL, "out-base/report.html", 20),
        ("transcripts.md", "out/report.html", 6),
        ("ci.md", "gate.md", 3),
    ],
)
def test_every_command_prints_what_the_page_shows(
    page, written, shown, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    printed, lines = "", []
    for language, block in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(block, page, "exec"), defined := {})
            for name in [name for name in defined if name.startswith("test_")]:
                defined[name]()
        elif language == "sh" and block != INSTALL:
            printed = ""
            for arguments in arguments_of(write_files(block, tmp_path)):
                assert main(arguments) == 0, arguments
            printed = " ".join(capsys.readouterr().out.split())
        elif language == "text":
            for line in block.splitlines():
                assert " ".join(line.split()) in printed
                lines.append(line)
    assert len(lines) >= shown
    assert (tmp_path / written).exists()
    if page == TUTORIAL:  # which leads on to the nightly runs, and to their gate
        nightly = ("--config", "goodgain:gate", "--baseline", "out-base")
        assert main(["gate", "out-candidate", *nightly]) == 0


def test_the_first_example_of_the_readme_works_as_it_stands(tmp_path, monkeypatch, capsys):
    """Its records, its commands, and its lines of Python."""
    monkeypatch.chdir(tmp_path)
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    blocks = BLOCK.findall(readme.split("## From your traces to a table")[1])
    (records, *_), (commands, *_), (lines, *_) = (
        [block for language, block in blocks if language == wanted]
        for wanted in ("json", "sh", "python")
    )
    (tmp_path / "traces.json").write_text(records, encoding="utf-8")
    for arguments in arguments_of(commands):
        assert main(arguments) == 0, arguments
    printed = capsys.readouterr().out
    assert "c-1" in printed
    assert (tmp_path / "out" / "report.html").exists()
    exec(compile(lines, "README.md", "exec"), {})
    assert "Gain" in capsys.readouterr().out
    assert (tmp_path / "report.html").exists()
