"""Processes of their own for tests, forked from one that has imported goodgain and Beam.

Importing them takes a second, ten times what such a process has to do. A process that is to show
what it imports, or how it takes signals from a terminal, is started with `subprocess` instead.
"""

import multiprocessing
import os
import re
import resource
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from goodgain.pipeline.__main__ import main

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload([__name__, "goodgain.pipeline.run.hosts.batch", "tests.core.direct"])


@dataclass(frozen=True)
class Done:
    """How a process ended.

    Attributes:
      returncode: its exit code, or minus the number of the signal that ended it.
      stdout: what it printed.
      stderr: what it printed as errors.
      memory: the most memory that it held, in bytes; None if it was killed.
    """

    returncode: int
    stdout: str
    stderr: str
    memory: int | None


def in_process(function, *arguments, environment=None, memory=None, seconds=None):
    """Call a function in a process of its own, and return how that ended.

    Args:
      function: a function of a module; what it returns is the exit code, None meaning 0.
      environment: variables to set.
      memory: limit of the address space in bytes.
      seconds: limit of CPU time.
    """
    given = {**os.environ, **(environment or {})}
    with tempfile.TemporaryDirectory() as folder:
        process = _SERVER.Process(
            target=_child, args=(folder, given, memory, seconds, function, arguments)
        )
        process.start()
        process.join()
        texts = {path.name: path.read_text("utf-8") for path in Path(folder).iterdir()}
    peak = texts.get("peak")
    return Done(process.exitcode, texts.get("1", ""), texts.get("2", ""), peak and int(peak))


def command_in_process(*words, **options):
    """Run the command line in a process of its own; for options see `in_process`."""
    return in_process(main, [str(word) for word in words], **options)


def _child(folder, environment, memory, seconds, function, arguments):
    os.environ.clear()
    os.environ.update(environment)
    for stream in (1, 2):
        file = os.open(f"{folder}/{stream}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(file, stream)
        os.close(file)
    for kind, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds)):
        if limit is not None:
            resource.setrlimit(kind, (limit, limit))
    try:
        sys.exit(function(*arguments))
    finally:
        Path(folder, "peak").write_text(str(peak_memory()), "utf-8")


def peak_memory():
    """The most memory that this process has held so far, in bytes.

    Not `ru_maxrss`, which includes the parent's memory when this process started.
    """
    status = Path("/proc/self/status").read_text("ascii")
    return int(re.search(r"VmHWM:\s+([0-9]+)", status)[1]) * 1024
