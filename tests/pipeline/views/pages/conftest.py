"""The page of a module of tests in the shared browser."""

import pytest

from tests.pipeline.views.pages.browser import open_page


@pytest.fixture
def page(browser, address):
    """The page, opened 1,600 px wide in light colours."""
    return open_page(browser, address)
