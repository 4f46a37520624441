"""The report of all nights in a real browser."""

import pytest

from goodgain.pipeline.views.pages.nights import build_nights_report
from tests.pipeline.views.pages.browser import (
    assert_cards_hold_their_content,
    assert_menus_change_their_plots,
    assert_no_table_is_cut_on_a_narrow_page,
    assert_opens_cleanly,
    eventually,
    needs_chromium,
    open_page,
    texts,
)
from tests.pipeline.views.pages.nights.entries import entry, many, week

pytestmark = [pytest.mark.browser, needs_chromium]


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nights")
    for name, entries in (("week", week()), ("year", many(365))):
        (folder / f"{name}.html").write_bytes(build_nights_report(entries))
    return {name: (folder / f"{name}.html").as_uri() for name in ("week", "year")}


@pytest.mark.parametrize("width", [400, 1_600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["week", "year"])
def test_page_opens_without_errors_or_requests(browser, addresses, name, width, scheme):
    page = open_page(browser, addresses[name], width, scheme)
    assert_opens_cleanly(page, addresses[name])


def test_no_card_overflows_and_no_table_is_cut(browser, addresses):
    page = open_page(browser, addresses["week"])
    assert_cards_hold_their_content(page)
    assert_no_table_is_cut_on_a_narrow_page(page)
    # The reasons of a day have a line of their own; without any there is none.
    wide = """return [...document.querySelectorAll("#days td:last-child:not(:empty)")]
    .map((one) => one.clientWidth / one.parentElement.clientWidth)"""
    assert page.execute_script(wide) == [1, 1]
    empty = "return document.querySelector('#days td:last-child:empty').clientHeight"
    assert page.execute_script(empty) == 0


def test_reasons_have_room_beside_the_other_columns(browser, addresses):
    page = open_page(browser, addresses["week"], width=1_400)
    widths = (
        "return [...document.querySelectorAll('#days td:last-child')].map((one) => one.clientWidth)"
    )
    assert min(page.execute_script(widths)) >= 280


def test_nights_stand_to_scale_of_time(browser, tmp_path):
    days = ["2025-03-01", "2025-03-02", "2025-03-10"]
    path = tmp_path / "nights.html"
    path.write_bytes(build_nights_report([entry(day) for day in days]))
    page = open_page(browser, path.as_uri())
    first, second, third = page.execute_script(
        "const axis = document.querySelector('#figure-trend .plot')._fullLayout.xaxis;"
        "return arguments[0].map((day) => axis.d2p(day))",
        days,
    )
    assert third - second == pytest.approx(8 * (second - first))
    assert second > first


def test_menus_change_their_plots(browser, addresses):
    page = open_page(browser, addresses["year"])
    assert len(texts(page, "#figure-input tbody th")) == 90
    assert_menus_change_their_plots(
        page,
        ("range", "trend", "the last 30"),
        ("trend-metric", "trend", "Normalised discounted gain (ndcg@10)"),
        ("count", "input", "share of rejected"),
        ("range", "changes", "all"),
    )
    assert texts(page, "#status") == ["Showing 365 days."]
    assert texts(page, "#figure-input tbody td")[0] == "1.2 %"  # 2 of 160


def test_line_breaks_at_days_that_were_not_run(browser, addresses, tmp_path):
    def parts_of_lines(address):
        page = open_page(browser, address)
        return len(page.find_elements("css selector", "#figure-trend .trace.scatter path.js-line"))

    first, second, _, *later = week()
    path = tmp_path / "gap.html"
    path.write_bytes(build_nights_report([first, second, *later]))
    assert parts_of_lines(path.as_uri()) > parts_of_lines(addresses["week"])


class TestWeek:
    """Tests that do not change the page, so they share one."""

    @pytest.fixture(scope="class")
    @classmethod
    def page(cls, browser, addresses):
        return open_page(browser, addresses["week"])

    def test_plots_are_drawn_with_their_numbers(self, page):
        for plot, rows in (("trend", 7), ("changes", 5), ("input", 7)):
            assert page.find_elements("css selector", f"#figure-{plot} svg .trace"), plot
            assert len(texts(page, f"#figure-{plot} tbody th")) == rows, plot
        legend = texts(page, "#figure-trend .legendtext")
        assert legend == ["baseline", "passed", "gate failed"]

    def test_every_control_has_a_name(self, page):
        for control in page.find_elements("css selector", "select, button, summary, .plot"):
            assert control.accessible_name, control.get_attribute("outerHTML")[:200]

    def test_day_shows_its_verdict_and_baseline_under_the_pointer(self, page):
        from selenium.webdriver.common.action_chains import ActionChains

        points = page.find_elements("css selector", "#figure-trend .trace.scatter .point")
        page.execute_script("arguments[0].scrollIntoView({block: 'center'})", points[-1])
        ActionChains(page).move_to_element(points[-1]).perform()
        selector = "#figure-trend .pointed"
        eventually(
            page, lambda: any("compared with 2025-03-01" in text for text in texts(page, selector))
        )
