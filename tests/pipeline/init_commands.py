"""The commands that `goodgain init` prints, run as a user would."""

import os
import subprocess
import sys
from pathlib import Path

PIP = "pip install "
# `goodgain` and `python` are those of the environment that runs the tests.
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
}


def shell(command, folder):
    """Run a command in a folder; its exit code, and everything that it prints."""
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def next_commands(kind, folder):
    """The commands that `goodgain init KIND` in a folder names, without installations."""
    code, printed = shell(f"goodgain init {kind}", folder)
    assert code == 0, printed
    marker = "next: "
    lines = [line for line in printed.splitlines() if line.startswith(marker)]
    commands = [line.removeprefix(marker) for line in lines]
    assert commands, printed
    return [command for command in commands if not command.startswith(PIP)]
