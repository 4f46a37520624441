"""The report in a real browser: what it draws, and how it reacts to its reader."""

import pytest

from goodgain.pipeline.views.pages.run import build_report
from tests.pipeline.views.pages.browser import (
    BESIDE,
    HOSTILE,
    assert_cards_hold_their_content,
    assert_menus_change_their_plots,
    assert_no_table_is_cut_on_a_narrow_page,
    assert_opens_cleanly,
    assert_plot_is_complete,
    assert_pointing_shows,
    assert_prints_on_light_paper,
    assert_slices_change_the_page,
    choose,
    eventually,
    needs_chromium,
    open_page,
    prefer,
    resize,
    texts,
)
from tests.pipeline.views.pages.outputs import (
    market_records,
    rejected_record,
    search,
    write_outputs,
)

pytestmark = [pytest.mark.browser, needs_chromium]
PLOTS = ("curve", "added", "distribution", "slices", "types")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "out"
    hostile = search(HOSTILE, 1, [(1, 3), (1, 3)], {"market": HOSTILE, "arm": HOSTILE})
    write_outputs(
        folder,
        [*market_records(), hostile],
        slices=(("market",), ("arm", "market")),
        rejected=[rejected_record(f"{HOSTILE} is wrong", HOSTILE)],
    )
    place = folder / "report.html"
    place.write_bytes(build_report(str(folder)).page)
    return place.as_uri()


@pytest.mark.parametrize("width", [400, 1_600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_opens_without_errors_or_requests(browser, address, width, scheme):
    page = open_page(browser, address, width, scheme)
    assert_opens_cleanly(page, address)
    assert page.title.startswith("Good Gain report")


# For each plot: whether it fills its width, and by how many pixels it covers the next element.
FITS = """
return [...document.querySelectorAll(".plot")].map((plot) => {
  const drawn = plot.querySelector("svg").getBoundingClientRect();
  const next = plot.nextElementSibling.getBoundingClientRect();
  const covered = Math.max(0, Math.round(drawn.bottom - next.top));
  return [Math.abs(drawn.width - plot.clientWidth) < 2, covered];
});
"""


def test_what_is_worth_looking_at_fits_one_screen(browser, address):
    page = open_page(browser, address, width=1_400)
    cards = "return document.querySelectorAll('#conversations .conversation').length"
    height = "return document.querySelector('#conversations').getBoundingClientRect().height"
    assert page.execute_script(cards) == 3
    assert page.execute_script(height) <= 900


def test_no_plot_covers_the_next_element_after_resizing(page):
    for width in (1_300, 1_600, 400, 1_600):
        resize(page, width)
        eventually(page, lambda: all(wide for wide, _ in page.execute_script(FITS)))
        assert {covered for _, covered in page.execute_script(FITS)} == {0}


def test_no_card_overflows_and_no_table_is_cut(page):
    assert_cards_hold_their_content(page)
    assert_no_table_is_cut_on_a_narrow_page(page)
    label = "return getComputedStyle(document.querySelector('#ranking td'), '::before').content"
    assert page.execute_script(label) == '"unit: "'


def test_cells_below_no_heading_have_no_label_on_a_narrow_page(browser, tmp_path):
    opened = search("c-01", 1, [(1, 3)], action="open") | {"call": 1}
    write_outputs(tmp_path / "out", [*market_records(), opened], scoring={"usage": True})
    place = tmp_path / "out" / "report.html"
    place.write_bytes(build_report(str(tmp_path / "out")).page)
    page = open_page(browser, place.as_uri(), width=400)
    label = (
        "return [...document.querySelectorAll('#way tbody tr:first-child td')]"
        ".map((cell) => getComputedStyle(cell, '::before').content)"
    )
    assert page.execute_script(label)[:2] == ["none", '"good documents: "']


def test_values_are_beside_the_point_or_below_the_plot_on_a_narrow_page(page):
    assert_pointing_shows(page, "curve", "reached i", ".trace.scatter .point")
    assert page.execute_script(BESIDE, "curve") == 0
    resize(page, 400)
    eventually(page, lambda: all(wide for wide, _ in page.execute_script(FITS)))
    assert_pointing_shows(page, "curve", "reached i", ".trace.scatter .point")
    assert page.execute_script(BESIDE, "curve") is None
    plot, text = (
        page.find_element("css selector", f"#figure-curve {element}") for element in ("svg", "p")
    )
    assert plot.rect["y"] + plot.rect["height"] <= text.rect["y"] + 1


def test_plots_follow_the_preferred_colour_scheme(page):
    ink = "return getComputedStyle(document.querySelector('#figure-curve .ytitle')).fill"
    paper = "return getComputedStyle(document.body).backgroundColor"
    light = [page.execute_script(script) for script in (ink, paper)]
    prefer(page, "dark")
    for script, before in zip((ink, paper), light, strict=True):
        eventually(page, lambda script=script, before=before: page.execute_script(script) != before)


def test_printing_is_light_and_restores_the_page_afterwards(page):
    assert_prints_on_light_paper(page, ["slices"])


def test_choosing_a_slice_changes_numbers_and_plots_and_choosing_all_restores_them(page):
    figures = ("curve", "added", "distribution")
    assert_slices_change_the_page(page, figures, "#headline [data-metric]", "6 conversations")
    choose(page, "slice", "market = north")
    assert texts(page, '.card [data-metric="N"][data-part="n"]') == ["6"]


def test_page_without_any_search_opens(browser, tmp_path):
    write_outputs(tmp_path / "out", [search("a", 1, [], turn_count=2)])
    place = tmp_path / "report.html"
    place.write_bytes(build_report(str(tmp_path / "out")).page)
    open_page(browser, place.as_uri())
    assert browser.get_log("browser") == []
    assert "o conversation both searched" in browser.find_element("tag name", "main").text


class TestOpenedOnce:
    """Tests that do not change size, colours or log of the page, so they share one page."""

    @pytest.fixture(scope="class")
    @classmethod
    def page(cls, browser, address):
        return open_page(browser, address)

    @pytest.mark.parametrize("plot", PLOTS)
    def test_plot_is_drawn_and_has_its_numbers_in_a_table(self, page, plot):
        assert_plot_is_complete(page, plot)

    def test_definition_is_shown_on_hover_and_focus_and_hidden_by_escape(self, page):
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        definition = page.find_element("id", "definition")
        term = page.find_element("css selector", ".card .term")
        assert not definition.is_displayed()
        ActionChains(page).move_to_element(term).perform()
        assert definition.is_displayed()
        assert "sum of G_k" in definition.text
        ActionChains(page).send_keys(Keys.ESCAPE).perform()
        assert not definition.is_displayed()
        page.execute_script("arguments[0].focus()", term)
        assert definition.is_displayed()
        assert term.get_attribute("aria-describedby") == "definition"

    def test_following_a_term_opens_its_definition(self, page):
        page.execute_script("document.querySelector('#ranking .term').click()")
        entry = page.find_element("id", "definition-end-ndcg@10")
        assert entry.is_displayed()

    def test_plot_shows_the_values_under_the_pointer(self, page):
        assert_pointing_shows(page, "added", "new and good")

    def test_choosing_a_metric_or_a_dimension_changes_its_plot(self, page):
        assert_menus_change_their_plots(
            page,
            ("curve-metric", "curve", "Good and new results so far (SRE@i)"),
            ("distribution-metric", "distribution", "Gain (CG)"),
            ("dimension", "slices", "arm, market"),
        )

    def test_axes_have_units(self, page):
        choose(page, "curve-metric", "Gain per result so far (RAG@i)")
        assert "Gain per result so far (RAG@i)" in texts(page, "#figure-curve .ytitle")
        choose(page, "distribution-metric", "Normalised discounted gain (ndcg@10)")
        assert texts(page, "#figure-distribution .xtitle")[0].endswith(", share")
        choose(page, "distribution-metric", "Good and new results (SRE)")
        ticks = texts(page, "#figure-distribution .xtick")
        assert ticks
        assert all(tick.endswith("%") for tick in ticks)

    def test_axis_of_slices_begins_at_zero_or_above(self, page):
        range_of = "return document.querySelector('#figure-slices .plot').layout.xaxis.range"
        choose(page, "dimension", "market")
        for metric in ("Gain (CG)", "Iterations after the last good"):
            choose(page, "slices-metric", metric)
            assert page.execute_script(range_of)[0] >= 0, metric

    def test_hostile_text_is_shown_but_not_executed(self, page):
        assert page.title != "run"
        choose(page, "slice", "market = </script>")
        assert texts(page, ".slice-name")[0].startswith("market = </script><img")
        choose(page, "dimension", "arm, market")
        assert page.find_elements("css selector", "img") == []
        assert page.title != "run"
        assert page.get_log("browser") == []
