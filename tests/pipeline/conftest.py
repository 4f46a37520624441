"""A browser shared by the tests of all HTML pages."""

import pytest

from tests.pipeline.views.pages.browser import chromium


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A real Chromium with its own profile; `opened` resets what earlier tests changed."""
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened
