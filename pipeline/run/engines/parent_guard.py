"""`python parent_guard.py COMMAND ...` runs a command that only its parent can end.

The command ignores the terminal's Ctrl-C and the SIGTERM that stops a service; its parent ends it.
On Linux the kernel also kills it when the parent exits for any reason. This script imports nothing
from the project.
"""

import ctypes
import os
import signal
import sys

_SET_SIGNAL_ON_PARENTS_DEATH = 1  # PR_SET_PDEATHSIG of Linux


def main(command: list[str]) -> None:
    """Replace this process by the command."""
    os.setsid()  # signals to the terminal's process group do not reach it
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # The parent stops it with SIGINT, which a background process inherits as ignored.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_SIGNAL_ON_PARENTS_DEATH, signal.SIGKILL)
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
