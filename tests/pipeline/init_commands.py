"""The commands that `goodgain init` prints, run as a user would."""

import os
import subprocess
import sys
from pathlib import Path

PIP = "pip install "


def with_programs_of(folder, environment):
    """Environment variables with which `goodgain` and `python` are those in a folder."""
    return {**environment, "PATH": f"{folder}{os.pathsep}{environment['PATH']}"}


# With the programs of the environment that runs the tests.
ENVIRONMENT = with_programs_of(Path(sys.executable).parent, os.environ)


def shell(command, folder, environment=ENVIRONMENT):
    """Run a command in a folder; its exit code, and everything that it prints."""
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def next_commands(kind, folder, environment=ENVIRONMENT):
    """The commands that `goodgain init KIND` in a folder names, without installations."""
    code, printed = shell(f"goodgain init {kind}", folder, environment)
    assert code == 0, printed
    return commands_in(printed)


def commands_in(printed):
    """The commands that `goodgain init` has printed, without installations."""
    marker = "next: "
    lines = [line for line in printed.splitlines() if line.startswith(marker)]
    commands = [line.removeprefix(marker) for line in lines]
    assert commands, printed
    return [command for command in commands if not command.startswith(PIP)]
