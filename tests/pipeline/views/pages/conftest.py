"""The page of a module of tests in the shared browser."""

import pytest

from tests.pipeline.views.pages.browser import opened


@pytest.fixture
def page(browser, address):
    """The page, opened 1,600 px wide in light colours."""
    return opened(browser, address)
