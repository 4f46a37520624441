"""Shells complete commands, options, values and files."""

import shutil
import subprocess

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.cli.commands import COMMANDS

COMPLETE = """
source {script}
COMP_WORDS=({words}) COMP_CWORD={at}
_shtab_goodgain
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def completed(tmp_path_factory):
    """Returns the completions that bash offers at the end of a command line."""
    folder = tmp_path_factory.mktemp("completion")
    script = folder / "goodgain.bash"
    with pytest.MonkeyPatch.context() as patch, script.open("w") as file:
        patch.setattr("sys.stdout", file)
        assert main(["completion", "bash"]) == 0
    (folder / "traces.avro").touch()

    def complete(line):
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        command = COMPLETE.format(script=script, words=quoted, at=len(words) - 1)
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    return complete


def test_completes_commands(completed):
    assert set(completed("goodgain ")) >= {name.split()[0] for name in COMMANDS}
    assert completed("goodgain nigh") == ["nightly"]
    assert set(completed("goodgain pool ")) >= {"build", "show", "judge"}


def test_completes_options_values_and_files(completed):
    assert completed("goodgain run --qrels-t") == ["--qrels-topic"]
    assert completed("goodgain pool build --top") == ["--topic"]
    assert completed("goodgain run --format par") == ["parquet"]
    assert completed("goodgain run --input trac") == ["traces.avro"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_scripts_are_valid_in_the_installed_shells(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "nightly" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)
