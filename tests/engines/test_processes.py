"""Background processes: repeated starts and stops, stale pid files, failures with a message."""

import contextlib
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.processes import Daemon, EngineError, wait_until

WAITS_FOR_A_SIGNAL = (
    sys.executable,
    "-c",
    "import signal; print('up', flush=True); signal.pause()",
)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    daemon = Daemon("waiter", WAITS_FOR_A_SIGNAL, tmp_path)
    yield daemon
    daemon.stop()


def test_a_second_start_keeps_the_process(daemon: Daemon) -> None:
    daemon.start()
    first = daemon.pid()
    daemon.start()
    assert first is not None
    assert daemon.pid() == first


def test_stop_ends_the_process_and_can_be_repeated(daemon: Daemon) -> None:
    daemon.start()
    pid = daemon.pid()
    daemon.stop()
    daemon.stop()
    assert daemon.pid() is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_another_program_finds_the_process(daemon: Daemon, tmp_path: Path) -> None:
    daemon.start()
    assert Daemon("waiter", WAITS_FOR_A_SIGNAL, tmp_path).pid() == daemon.pid()


def test_a_pid_file_with_the_pid_of_another_process_is_stale(
    daemon: Daemon, tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "waiter.pid").write_text(str(os.getpid()))
    assert daemon.pid() is None
    daemon.start()
    assert daemon.pid() not in (None, os.getpid())


def test_a_killed_process_fails_its_check_and_can_be_started_again(daemon: Daemon) -> None:
    daemon.start()
    first = daemon.pid()
    daemon.kill()
    with pytest.raises(EngineError, match="does not run"):
        daemon.check()
    daemon.start()
    assert daemon.pid() not in (None, first)


def test_a_process_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    ignores = "from signal import *; signal(SIGTERM, SIG_IGN); print('up', flush=True); pause()"
    daemon = Daemon(
        "stubborn",
        (sys.executable, "-c", ignores),
        tmp_path,
        is_ready=lambda: "up" in daemon.log.read_text(),
        seconds_to_stop=0.2,
    )
    daemon.start()
    pid = daemon.pid()
    daemon.stop()
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)  # its lock is released before the system forgets the process
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)


def test_a_process_that_fails_is_reported_with_its_log(tmp_path: Path) -> None:
    command = (sys.executable, "-c", "raise SystemExit('no such thing')")
    daemon = Daemon("failing", command, tmp_path, is_ready=lambda: False)
    with pytest.raises(EngineError, match=r"(?s)failing\.log.*no such thing"):
        daemon.start()


def test_a_port_in_use_is_reported(tmp_path: Path) -> None:
    with socket.create_server(("localhost", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EngineError, match=str(port)):
            Daemon("guest", WAITS_FOR_A_SIGNAL, tmp_path, ports=(port,)).start()


def test_a_wait_that_fails_names_what_it_waited_for() -> None:
    with pytest.raises(EngineError, match="for Godot"):
        wait_until(lambda: False, 0, "Godot")
