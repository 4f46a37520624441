"""The section on costs in a real browser."""

import re
from html import unescape
from pathlib import Path

import pytest

from goodgain.pipeline.views.pages.run import build_report
from tests.pipeline.views.pages.browser import (
    assert_cut_intervals_have_arrows,
    choose,
    drawn,
    needs_chromium,
    open_page,
    texts,
)
from tests.pipeline.views.pages.outputs import write_outputs
from tests.pipeline.views.pages.test_costs import COSTS, three

pytestmark = [pytest.mark.browser, needs_chromium]


@pytest.fixture
def page(browser, tmp_path):
    records = [*three("a", "north", 100, 100, 200), *three("b", "south", 300, 100)]
    write_outputs(tmp_path / "out", [*records, *three("c", "south", 100)], scoring=COSTS)
    place = tmp_path / "out" / "report.html"
    place.write_bytes(build_report(str(tmp_path / "out")).page)
    return open_page(browser, place.as_uri())


def written_cells(page):
    """The cells of the table of costs as written in the file, before any script changes them."""
    source = Path(page.current_url.removeprefix("file://")).read_text(encoding="utf-8")
    section = source[source.index('<section id="costs"') :].split("</section>")[0]
    cells = re.findall(r"<td[^>]*>(?:<span[^>]*>)?(.*?)(?:</span>)?</td>", section)
    return list(map(unescape, cells))


def test_section_follows_the_cost_and_the_slice(page):
    assert page.get_log("browser") == []
    table = texts(page, "#costs .means td")
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
    assert texts(page, "#costs .means td") != table
    choose(page, "slice", "All conversations")
    assert texts(page, "#costs .means td") == table
    assert {figure: drawn(page, figure) for figure in before} == before


def open_markets(browser, folder, markets, width=1_600):
    """A report on conversations with the costs that are given by market."""
    records = [
        record
        for market, costs in markets.items()
        for at, cost in enumerate(costs)
        for record in three(f"{market}-{at}", market, cost, *[100] * (at % 2))
    ]
    write_outputs(folder / "out", records, scoring=COSTS)
    place = folder / "out" / "report.html"
    place.write_bytes(build_report(str(folder / "out")).page)
    return open_page(browser, place.as_uri(), width=width)


def test_gain_against_cost_shows_where_intervals_are_cut(browser, tmp_path):
    page = open_markets(browser, tmp_path, {"north": [100] * 10, "south": [*[100] * 9, 30_000]})
    assert_cut_intervals_have_arrows(page, "front")


# How many bars of intervals a plot draws, and the cells of its table.
INTERVALS = """
const figure = document.getElementById(arguments[0]);
const cells = (row) => [...row.cells].map((cell) => cell.textContent);
return [figure.querySelectorAll(".xerror").length,
  [...figure.querySelectorAll("tbody tr")].map(cells)];
"""


def test_a_slice_of_fewer_than_ten_conversations_has_n_and_no_interval(browser, tmp_path):
    markets = {"few": range(100, 900, 100), "many": range(100, 1_300, 100)}
    page = open_markets(browser, tmp_path, markets)
    drawn_intervals, (few, many) = page.execute_script(INTERVALS, "figure-slices")
    assert few == ["few", "4.000", "-", "4.000", "8", "0"]
    assert ".." in many[2]
    assert drawn_intervals == 1
    drawn_intervals, (few, many) = page.execute_script(INTERVALS, "figure-front")
    assert few[1:3] == ["500.0", "-"]
    assert few[5:7] == ["8", "8"]
    assert ".." in many[2]
    assert drawn_intervals == 1


# The names beside the points, the numbers within them, and the key.
NAMES = """
const figure = document.getElementById("figure-front");
const names = [...figure.querySelectorAll(".textpoint")].map((one) => one.textContent);
return [names, figure.querySelector(".key").textContent];
"""


def test_every_point_has_its_name_or_a_number_if_names_do_not_fit(browser, tmp_path):
    names = ("one", "two", "three", "four", "five")
    markets = {name: [100 + 2 * at] * 2 for at, name in enumerate(names)}
    page = open_markets(browser, tmp_path, markets, width=400)
    names, key = page.execute_script(NAMES)
    assert names == ["1", "2", "3", "4", "5"]
    assert key == "1 five; 2 four; 3 one; 4 three; 5 two"
