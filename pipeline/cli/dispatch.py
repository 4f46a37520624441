"""Finds the command, runs it, and turns errors and signals into messages and exit codes."""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches

from goodgain.pipeline.cli.commands import COMMANDS, load_command, parse_arguments
from goodgain.pipeline.document.safe_text import printable_lines
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.version import goodgain_version
from goodgain.transforms.core.errors import GoodGainError, UsageError, problem_of
from goodgain.transforms.core.native import active_path, is_off

_HELP_WORDS = ("-h", "--help", "help")


def dispatch(argv: Sequence[str] | None = None) -> int:
    """Run a command, by default that of this process; mistakes of users end without a traceback."""
    words = sys.argv[1:] if argv is None else list(argv)
    # Beam warns about missing optional libraries at import, which helps no user.
    logging.getLogger().setLevel(logging.ERROR)
    # Arrow's own allocator keeps what it has freed: 25 to 60 MB of the peak of a run of 500,000
    # results, at no gain in speed.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # NumPy's threads for linear algebra, of which runs have hardly any, wait by spinning: 5 % of
    # the CPU of a run on two cores, and a tenth of its start-up.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    received: list[int] = []
    try:
        with _interrupt_by_sigterm(received):
            code = _run(words)
        sys.stdout.flush()
        return code
    except GoodGainError as error:
        sys.stderr.write(f"goodgain: {printable_lines(str(error))}\n")
        return ExitCode.USAGE if isinstance(error, UsageError) else ExitCode.FAILED
    except KeyboardInterrupt:
        sys.stderr.write(f"goodgain: {'terminated' if received else 'interrupted'}.\n")
        return ExitCode.TERMINATED if received else ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone; without this, Python would complain when it flushes at
        # exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.BROKEN_PIPE
    except OSError as error:  # a full disk, above all
        named = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"goodgain: {printable_lines(named)}{problem_of(error)}.\n")
        return ExitCode.FAILED


@contextmanager
def _interrupt_by_sigterm(received: list[int]) -> Iterator[None]:
    """Let SIGTERM, by which schedulers stop a job, clean up like Ctrl-C; record its number."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def interrupt(number: int, _: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _run(words: Sequence[str]) -> int:
    name = words[0] if words else ""
    if name == "help" and len(words) > 1:
        return _run([*words[1:], "--help"])
    if name in _HELP_WORDS:
        sys.stdout.write(_overview())
        return ExitCode.DONE
    if name == "--version":
        sys.stdout.write(f"goodgain {goodgain_version()}, reads by {active_path()}\n")
        return ExitCode.DONE
    if words[1:] in (["-h"], ["--help"]) and (own := _own_commands(name)):
        sys.stdout.write(_overview_of(name, own))
        return ExitCode.DONE
    if " ".join(words[:2]) in COMMANDS:
        name = " ".join(words[:2])
    if name not in COMMANDS:
        raise UsageError(_no_command(words))
    command = load_command(name)
    try:
        args = parse_arguments(command, words[len(name.split()) :])
    except SystemExit:
        return ExitCode.DONE  # after --help
    is_off()  # a mistake in it should not end a run half way
    return command.run(args)


def _no_command(words: Sequence[str]) -> str:
    known = ", ".join(COMMANDS)
    if not words or not words[0]:
        return f"give a command: {known}; see `goodgain --help`."
    name = words[0]
    if own := _own_commands(name):
        return f"give one of {', '.join(own)}; see `goodgain {name} --help`."
    near = get_close_matches(name.lower(), COMMANDS, n=1)
    suggestion = f"; did you mean {near[0]}?" if near else f"; there are {known}."
    return f"'{name}' is not a command{suggestion} See `goodgain --help`."


def _own_commands(group: str) -> list[str]:
    """The commands of a group, like those of `pool`."""
    return [name for name in COMMANDS if name.startswith(f"{group} ")]


def _summaries(names: Iterable[str], width: int) -> str:
    commands = map(load_command, names)
    return "".join(f"  {command.NAME:{width}}  {command.HELP}\n" for command in commands)


def _overview_of(group: str, names: Sequence[str]) -> str:
    return (
        f"usage: goodgain {group} COMMAND [options]\n\n"
        f"commands:\n{_summaries(names, max(map(len, names)))}\n"
        f"`goodgain help {names[0]}` shows the options of one of them.\n"
    )


def _overview() -> str:
    width = max(map(len, COMMANDS))
    return (
        "usage: goodgain COMMAND [options]\n\n"
        "Measures how much good, new material each iteration of a search agent brought.\n\n"
        f"commands:\n{_summaries(COMMANDS, width)}\n"
        "options of every command:\n"
        f"  {'--help':{width}}  what the command does and its options\n\n"
        "also: goodgain help COMMAND, goodgain --version\n\n"
        f"example:\n  {load_command('run').EXAMPLE}\n"
    )
