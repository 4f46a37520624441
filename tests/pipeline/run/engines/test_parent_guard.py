import os
import signal
import subprocess
import sys

import pytest

from goodgain.pipeline.run.engines import parent_guard

# Prints that it is ready, then waits for the end of its input.
CHILD = "import sys; print('ready', flush=True); sys.stdin.read(); print('done', flush=True)"
COMMAND = [sys.executable, parent_guard.__file__, sys.executable, "-c", CHILD]
IN_THE_BACKGROUND = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]  # as a shell's `&` starts it


@pytest.fixture(params=[[], IN_THE_BACKGROUND], ids=["foreground", "background"])
def child(request):
    process = subprocess.Popen(
        [*request.param, *COMMAND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=False,
    )
    assert process.stdout.readline() == b"ready\n"
    yield process
    process.kill()
    process.communicate()


def test_the_child_has_its_own_process_group(child):
    assert os.getpgid(child.pid) == child.pid != os.getpgid(os.getpid())


def test_sigterm_does_not_end_the_child(child):
    child.send_signal(signal.SIGTERM)
    rest, _ = child.communicate()
    assert (rest, child.returncode) == (b"done\n", 0)


def test_sigint_ends_the_child(child):
    child.send_signal(signal.SIGINT)
    child.communicate()
    assert child.returncode != 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux signals the end of a parent")
def test_the_child_ends_with_its_parent():
    parent = (
        "import os, subprocess, sys\n"
        "child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    waiting = "import signal; print('ready', flush=True); signal.pause()"
    command = [sys.executable, "-c", parent, *COMMAND[:-1], waiting]
    # The child inherits stderr, so `run` returns only after the child has ended.
    done = subprocess.run(command, stderr=subprocess.PIPE, timeout=100)
    assert done.returncode == -signal.SIGKILL
