"""Named pipes between a test and a program that may end too early."""

import os
from contextlib import contextmanager
from threading import Event, Thread


def open_with(process, path, mode):
    """Open a named pipe once a process (or one of its children) opens the other end.

    Raises:
      AssertionError: the process ended without opening it.
    """
    opened = Event()

    def stand_in():
        """Open the other end if the process ends without doing so; else this end waits forever."""
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
        raise AssertionError(
            f"{process.args} ended with {process.returncode} without opening {path}"
        )
    return pipe


@contextmanager
def passable(path):
    """Unblock a program that opens a named pipe for reading, if there is one."""
    both_ends = os.open(path, os.O_RDWR)  # does not block
    try:
        yield
    finally:
        path.unlink()  # a late opener fails instead of waiting forever
        os.close(both_ends)
