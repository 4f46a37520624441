"""The section on costs in a real browser."""

import re
from pathlib import Path

import pytest

from goodgain.pipeline.report import build_report
from tests.pipeline.report.browser import choose, drawn, needs_chromium, opened, texts
from tests.pipeline.report.outputs import write_outputs
from tests.pipeline.report.test_costs import COSTS, three

pytestmark = [pytest.mark.browser, needs_chromium]


@pytest.fixture
def page(browser, tmp_path):
    records = [*three("a", "north", 100, 100, 200), *three("b", "south", 300, 100)]
    write_outputs(tmp_path / "out", [*records, *three("c", "south", 100)], scoring=COSTS)
    place = tmp_path / "out" / "report.html"
    place.write_bytes(build_report(str(tmp_path / "out")))
    return opened(browser, place.as_uri())


def written_cells(page):
    """The cells of the table in the HTML file, before the script formats them again."""
    html = Path(page.current_url.removeprefix("file://")).read_text(encoding="utf-8")
    rows = re.findall(r"<tr data-cost=.*?</tr>", html, re.DOTALL)
    return [cell for row in rows for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]


def test_section_follows_the_cost_and_the_slice(page):
    assert page.get_log("browser") == []
    table = texts(page, "[data-cost] td")
    assert table == written_cells(page)
    (stops_paying,) = texts(page, "#stops-paying")
    # Gain 9 for 500 tokens, then 4 for 200, then 0 for 200: together 13 for 900.
    assert stops_paying == (
        "Iteration 3 gains less per unit of tokens than all iterations together, 0.0144."
    )
    assert texts(page, "#figure-paying tbody tr:nth-child(2) td") == [
        "2.000", "100.0", "0.0200", "2", "2"
    ]  # fmt: skip
    before = {figure: drawn(page, figure) for figure in ("gained", "paying")}
    choose(page, "cost", "usd")
    assert re.match(r"Iterations? .* usd", texts(page, "#stops-paying")[0])
    assert all(drawn(page, figure) != before[figure] for figure in before)
    choose(page, "cost", "tokens")
    choose(page, "slice", "market = south")
    assert texts(page, "[data-cost] td") != table
    choose(page, "slice", "All conversations")
    assert texts(page, "[data-cost] td") == table
    assert {figure: drawn(page, figure) for figure in before} == before
