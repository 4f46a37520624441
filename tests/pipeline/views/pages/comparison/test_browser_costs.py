"""The costs of both arms in a real browser."""

import pytest

from tests.pipeline.views.pages.browser import (
    choose,
    drawn,
    eventually,
    needs_chromium,
    open_page,
    texts,
)
from tests.pipeline.views.pages.comparison.outputs import write_comparison
from tests.pipeline.views.pages.test_costs import COSTS, three

pytestmark = [pytest.mark.browser, needs_chromium]
FIGURES = ("gained", "front", "paying")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    base = [*three("a", "north", 100, 100, 200), *three("b", "south", 300, 100)]
    candidate = [*three("a", "north", 50, 100), *three("b", "south", 150, 50)]
    output = write_comparison(
        tmp_path_factory.mktemp("compared"), (base, candidate), "--slice", "market", scoring=COSTS
    )
    return (output / "report.html").as_uri()


@pytest.mark.parametrize("width", [400, 1_440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_section_fits_its_page_without_errors(browser, address, width, scheme):
    open_page(browser, address, width, scheme)
    assert browser.get_log("browser") == []
    for figure in FIGURES:
        wide = f"return document.querySelector('#figure-{figure} svg').clientWidth"
        assert 0 < browser.execute_script(wide) <= width
    page = browser.execute_script("return document.documentElement.scrollWidth")
    assert page <= browser.execute_script("return document.documentElement.clientWidth")


def test_section_shows_both_arms_and_follows_menus(browser, address):
    open_page(browser, address, width=1_440)
    rows = "#figure-front tbody tr"
    cells = [texts(browser, f"{rows}:nth-child({at}) :is(th, td)") for at in (1, 2)]
    # The base gains 10 for 800 tokens, the candidate 10 for 350.
    assert [(cell[0], cell[1], cell[3], cell[-1]) for cell in cells] == [
        ("Base", "400.0", "5.000", "no"),
        ("Candidate", "175.0", "5.000", "yes"),
    ]
    (stops_paying,) = texts(browser, "#stops-paying")
    assert stops_paying == (
        "Base: iteration 3 gains less per unit of tokens than all iterations together, 0.0125. "
        "Candidate: iteration 2 gains less per unit of tokens than all iterations together, 0.0286."
    )
    curves = texts(browser, "#figure-gained tbody td:nth-child(2)")
    assert curves == ["Base"] * 3 + ["Candidate"] * 2
    before = {figure: drawn(browser, figure) for figure in FIGURES}
    choose(browser, "cost", "usd")
    assert all(drawn(browser, figure) != before[figure] for figure in ("gained", "paying"))
    choose(browser, "cost", "tokens")
    choose(browser, "slice", "market = south")
    assert all(drawn(browser, figure) != before[figure] for figure in FIGURES)
    choose(browser, "slice", "All conversations")
    eventually(browser, lambda: {figure: drawn(browser, figure) for figure in FIGURES} == before)
