"""What holds for all tests."""

import os

from tests.quick_beam import remember

# GNU readline, which pytest-xdist's parent imports, gives its children the width of a terminal;
# tests see the width that a pipe has, unless they set one.
os.environ.pop("COLUMNS", None)
os.environ.pop("LINES", None)
remember()
