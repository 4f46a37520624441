"""What holds for all tests."""

import os

import pytest

from goodgain.transforms.core.native import SWITCH, native_module
from tests.quick_beam import remember

# GNU readline, which pytest-xdist's parent imports, gives its children the width of a terminal;
# tests see the width that a pipe has, unless they set one.
os.environ.pop("COLUMNS", None)
os.environ.pop("LINES", None)
remember()


@pytest.fixture(scope="module", params=["as built", "python"])
def reading(request):
    """As files are read here, and in Python where that is another way."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "python":
            if native_module() is None:
                pytest.skip("the native part is not built, so Python reads anyway")
            patch.setenv(SWITCH, "0")
        yield
