"""What the tests of every page in a browser start from."""

import pytest

from tests.pipeline.report.browser import chromium


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A real Chromium with a profile of its own; `opened` sets what a test may have left."""
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened
