"""`python tied.py COMMAND ...` becomes the command, tied to its parent.

The command ignores the Ctrl-C of the terminal, and on Linux the kernel ends it when its parent
ends, however that happens. A script of its own, which imports nothing of the project.
"""

import ctypes
import os
import signal
import sys

_SET_SIGNAL_ON_PARENTS_DEATH = 1  # PR_SET_PDEATHSIG of Linux


def main(command: list[str]) -> None:
    """Replace this process by the command."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_SIGNAL_ON_PARENTS_DEATH, signal.SIGKILL)
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
