"""Named pipes between a test and a program that may end too early."""

import os
from contextlib import contextmanager
from threading import Event, Thread


def opened_with(process, path, mode):
    """A named pipe, as soon as a process (or one of its own) opens the other end.

    Raises:
      AssertionError: the process ended without.
    """
    opened = Event()

    def stand_in():
        """Open the other end where nobody will, as opening this end would wait for ever."""
        process.wait()
        if not opened.is_set():
            other = os.open(path, os.O_RDWR)
            opened.wait()
            os.close(other)

    waiting = Thread(target=stand_in, daemon=True)
    waiting.start()
    pipe = open(path, mode)  # noqa: SIM115 - the caller closes it
    opened.set()
    if process.poll() is not None:
        waiting.join()
        pipe.close()
        raise AssertionError(f"{process.args} ended with {process.returncode} before it got there")
    return pipe


@contextmanager
def passable(path):
    """Let a program through that opens a named pipe to read, whether one is there or not."""
    both_ends = os.open(path, os.O_RDWR)  # waits for nobody
    try:
        yield
    finally:
        path.unlink()  # who comes too late fails, and does not wait for ever
        os.close(both_ends)
