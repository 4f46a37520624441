"""Settings for all tests."""

import gc
import os

import pytest
from hypothesis import settings

from goodgain.transforms.core.native import SWITCH, native_module

# The parent of pytest-xdist imports GNU readline, which sets the width of the terminal for child
# processes. Tests should have no terminal width, as behind a pipe, unless they set one.
os.environ.pop("COLUMNS", None)
os.environ.pop("LINES", None)
# ranx compiles itself, which takes minutes with a cold cache; uncompiled, its results are the same.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
os.environ.setdefault("NUMBA_OPT", "0")
# Nothing that tests write has to survive a crash of the machine, and a run would wait 17 times.
os.fsync = lambda _: None
# No deadline per example, since other processes may slow it down.
settings.register_profile("goodgain", deadline=None)
settings.load_profile("goodgain")
# Files that take most of a minute each, so they start first.
LONGEST = ("test_packaging.py", "test_peers.py", "test_hostile.py", "test_fortnight.py")


def pytest_xdist_auto_num_workers():
    """Two more than there are cores, since tests often wait for other processes."""
    return len(os.sched_getaffinity(0)) + 2


def pytest_configure(config):
    gc.disable()  # until all tests are collected
    config.addinivalue_line("filterwarnings", "ignore::goodgain.GoodGainWarning")
    # With `-n` this process runs no tests, and importing Beam here would delay its workers.
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        from tests.quick_beam import cache_beam_lookups

        cache_beam_lookups()


def pytest_collection_finish():
    """Exempt existing objects from garbage collection, which took a tenth of the time."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_collection_modifyitems(items):
    """Start with slow files, since `--dist loadfile` assigns files in order."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.name not in LONGEST, item.path not in slow))


@pytest.fixture(scope="module", params=["as built", "python"])
def reading(request):
    """Runs a module's tests with the installed reader, and again in Python if that is another."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "python":
            if native_module() is None:
                pytest.skip("the native part is not built, so Python reads anyway")
            patch.setenv(SWITCH, "0")
        yield
