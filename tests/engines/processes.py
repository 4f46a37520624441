"""Background processes with a pid file, a log and a health check."""

import contextlib
import errno
import fcntl
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

LINES_OF_LOG_SHOWN = 15
SECONDS_BETWEEN_CHECKS = 0.1


class EngineError(Exception):
    """An engine could not be installed, started, or used; the message says what to do."""


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Return as soon as `condition` holds.

    Raises:
        EngineError: it did not hold within `seconds`; `what` names it in the message.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise EngineError(f"waited {seconds:.0f} s in vain for {what}")
        time.sleep(SECONDS_BETWEEN_CHECKS)


def port_answers(port: int) -> bool:
    """Whether something on this machine accepts connections on `port`."""
    try:
        with socket.create_connection(("localhost", port), timeout=1):
            return True
    except OSError:
        return False


def end_of_log(log: Path, lines: int = LINES_OF_LOG_SHOWN) -> str:
    """The last lines of a log file, or a note that there is none."""
    if not log.exists():
        return "(no log was written)"
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def run_to_end(
    command: list[str], log: Path, what: str, environment: Mapping[str, str] | None = None
) -> None:
    """Run a command with its output in `log`, and in `environment` if given.

    Raises:
        EngineError: it failed; the message starts with `what` and ends with the end of the log.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        code = subprocess.run(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment
        ).returncode
    if code != 0:
        raise EngineError(f"{what} failed (exit code {code}), see {log}:\n{end_of_log(log)}")


@dataclass(frozen=True)
class Daemon:
    """A background process and the processes that it starts.

    The process inherits a lock on its pid file, so that a stale file is recognised even if another
    process has its pid.

    Attributes:
        name: For messages and file names.
        command: Program and arguments.
        folder: The working folder, with run/NAME.pid and log/NAME.log.
        environment: All environment variables.
        ports: All ports it listens on; they must be free before it starts.
        is_ready: Whether it is ready; by default, whether all ports answer.
        seconds_to_start: The time limit of a start.
        seconds_to_stop: The time after a signal to end before it is killed.
    """

    name: str
    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    ports: tuple[int, ...] = ()
    is_ready: Callable[[], bool] | None = None
    seconds_to_start: float = 180
    seconds_to_stop: float = 10

    @property
    def log(self) -> Path:
        """The file with the standard output and error of the process."""
        return self.folder / "log" / f"{self.name}.log"

    @property
    def _pid_file(self) -> Path:
        return self.folder / "run" / f"{self.name}.pid"

    def pid(self) -> int | None:
        """The pid of the running process; None if it does not run."""
        try:
            with self._pid_file.open() as file:
                if _try_lock(file.fileno()):
                    return None
                return int(file.read())
        except FileNotFoundError:
            return None

    def start(self) -> None:
        """Start the process unless it runs, and return when it is ready.

        Raises:
            EngineError: a port is taken, or the process ended or was not ready in time.
        """
        self.launch()
        self.check(self.seconds_to_start)

    def launch(self) -> None:
        """Start the process unless it runs, and return at once.

        Raises:
            EngineError: a port is taken.
        """
        if self.pid() is None:
            self._check_ports_are_free()
            self._launch()

    def check(self, seconds: float = 10) -> None:
        """Wait until the process is ready.

        Raises:
            EngineError: it does not run, or is not ready within `seconds`.
        """
        deadline = time.monotonic() + seconds
        while self.pid() is not None:
            if self._ready():
                return
            if time.monotonic() > deadline:
                raise self._failure(f"is not ready after {seconds:.0f} s")
            time.sleep(SECONDS_BETWEEN_CHECKS)
        raise self._failure("does not run")

    def stop(self) -> None:
        """End the process and all that it started, with SIGKILL if it takes too long."""
        if (pid := self.pid()) is None:
            self._pid_file.unlink(missing_ok=True)
            return
        _signal_group(pid, signal.SIGTERM)
        with contextlib.suppress(EngineError):
            wait_until(
                lambda: self._has_ended(pid), self.seconds_to_stop, f"the end of {self.name}"
            )
        self._kill_group(pid)
        self._pid_file.unlink(missing_ok=True)

    def kill(self) -> None:
        """End the process and all that it started with SIGKILL, like a power failure.

        Raises:
            EngineError: it does not run.
        """
        if (pid := self.pid()) is None:
            raise self._failure("does not run")
        self._kill_group(pid)

    def _kill_group(self, pid: int) -> None:
        _signal_group(pid, signal.SIGKILL)
        wait_until(lambda: self._has_ended(pid), 10, f"the end of {self.name}")

    def _launch(self) -> None:
        for path in (self.log, self._pid_file):
            path.parent.mkdir(parents=True, exist_ok=True)
        with self._pid_file.open("a") as pid_file, self.log.open("ab") as log:
            if not _try_lock(pid_file.fileno()):
                raise EngineError(f"{self.name} is being started by another program: wait for it")
            pid_file.truncate(0)
            process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=dict(self.environment),
                cwd=self.folder,
                start_new_session=True,
                pass_fds=[pid_file.fileno()],
            )
            pid_file.write(str(process.pid))

    def _has_ended(self, pid: int) -> bool:
        # A child must be reaped to disappear; children of other programs raise ChildProcessError.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        # The system may release the lock on the pid file a moment before the ports.
        return self.pid() is None and not any(map(port_answers, self.ports))

    def _ready(self) -> bool:
        return self.is_ready() if self.is_ready else all(map(port_answers, self.ports))

    def _check_ports_are_free(self) -> None:
        for port in filter(port_answers, self.ports):
            raise EngineError(
                f"port {port}, wanted by {self.name}, is in use by another program: "
                "end that, or choose another port in configs/flink/engines.yaml"
            )

    def _failure(self, what: str) -> EngineError:
        return EngineError(
            f"{self.name} {what}; read {self.log}, which ends:\n{end_of_log(self.log)}"
        )


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    return True


def _signal_group(leader: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, number)
