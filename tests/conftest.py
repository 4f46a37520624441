"""What holds for all tests."""

import gc
import os

import pytest
from hypothesis import settings

from goodgain.transforms.core.native import SWITCH, native_module

# GNU readline, which pytest-xdist's parent imports, gives its children the width of a terminal;
# tests see the width that a pipe has, unless they set one.
os.environ.pop("COLUMNS", None)
os.environ.pop("LINES", None)
# ranx compiles itself, which takes minutes where its cache is cold; its Python gives the same.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
os.environ.setdefault("NUMBA_OPT", "0")
# How long an example takes says nothing on a machine that does other things, too.
settings.register_profile("goodgain", deadline=None)
settings.load_profile("goodgain")
# Each takes most of a minute; what begins last should not be what ends last.
LONGEST = ("test_packaging.py", "test_peers.py", "test_hostile.py", "test_fortnight.py")


def pytest_configure(config):
    # With `-n` this process runs no test, and those that do start when it is ready.
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        from tests.quick_beam import remember

        remember()


def pytest_collection_finish():
    """What is there by now stays; to look through it for garbage took a tenth of the time."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_collection_modifyitems(items):
    """Begin with the files that take long, as `--dist loadfile` gives out one after another."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.name not in LONGEST, item.path not in slow))


@pytest.fixture(scope="module", params=["as built", "python"])
def reading(request):
    """As files are read here, and in Python where that is another way."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "python":
            if native_module() is None:
                pytest.skip("the native part is not built, so Python reads anyway")
            patch.setenv(SWITCH, "0")
        yield
