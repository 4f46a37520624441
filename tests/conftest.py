"""Settings for all tests."""

import gc
import os

import pytest
from hypothesis import settings

from goodgain.transforms.core.native import SWITCH, native_module

# GNU readline, which pytest-xdist's parent imports, sets the width of a terminal for its children;
# tests should see that of a pipe, unless they set one.
os.environ.pop("COLUMNS", None)
os.environ.pop("LINES", None)
# ranx compiles itself, which takes minutes with a cold cache; its Python gives the same results.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
os.environ.setdefault("NUMBA_OPT", "0")
# No deadline per example, since other processes may slow it down.
settings.register_profile("goodgain", deadline=None)
settings.load_profile("goodgain")
# Each takes most of a minute, so they start first.
LONGEST = ("test_packaging.py", "test_peers.py", "test_hostile.py", "test_fortnight.py")


def pytest_configure(config):
    # With `-n` this process runs no tests, and its workers start once it is ready.
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        from tests.quick_beam import remember

        remember()


def pytest_collection_finish():
    """Exempt existing objects from garbage collection, which took a tenth of the time."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_collection_modifyitems(items):
    """Start with slow files, since `--dist loadfile` assigns files in order."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.name not in LONGEST, item.path not in slow))


@pytest.fixture(scope="module", params=["as built", "python"])
def reading(request):
    """Reading as installed, and in Python if that differs."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "python":
            if native_module() is None:
                pytest.skip("the native part is not built, so Python reads anyway")
            patch.setenv(SWITCH, "0")
        yield
