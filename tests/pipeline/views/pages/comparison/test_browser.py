"""The page of a comparison in a real browser."""

import pytest

from tests.pipeline.views.pages.browser import (
    HOSTILE,
    assert_cards_hold_their_content,
    assert_cut_intervals_have_arrows,
    assert_menus_change_their_plots,
    assert_no_table_is_cut_on_a_narrow_page,
    assert_opens_cleanly,
    assert_plot_is_complete,
    assert_pointing_shows,
    assert_prints_on_light_paper,
    assert_slices_change_the_page,
    choose,
    drawn,
    needs_chromium,
    open_page,
    resize,
    texts,
)
from tests.pipeline.views.pages.comparison.outputs import arms, write_comparison

pytestmark = [pytest.mark.browser, needs_chromium]
PLOTS = ("forest", "gsb", "curve", "slices", "pairs")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    hostile = arms(HOSTILE, {"market": HOSTILE})
    records = [[*own, *theirs] for own, theirs in zip(arms(), hostile, strict=True)]
    output = write_comparison(tmp_path_factory.mktemp("compared"), records, "--slice", "market")
    return (output / "report.html").as_uri()


@pytest.mark.parametrize("width", [400, 1_600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_opens_without_errors_or_requests(browser, address, width, scheme):
    page = open_page(browser, address, width, scheme)
    assert_opens_cleanly(page, address)
    assert page.title.startswith("Good Gain comparison")


def test_every_control_has_a_name(page):
    """Hidden ones too: they are shown first, since a browser names only what it shows."""
    page.execute_script(
        "document.querySelectorAll('details').forEach(one => one.open = true);"
        "document.querySelectorAll('[hidden]').forEach(one => one.hidden = false);"
    )
    controls = page.find_elements("css selector", "select, button, summary, .plot")
    assert len(controls) > 5
    never_shown = list(controls)
    for width in (400, 1_600):  # some are shown on narrow pages only
        resize(page, width)
        for control in (control for control in controls if control.is_displayed()):
            assert control.accessible_name, control.get_attribute("outerHTML")[:200]
            if control in never_shown:
                never_shown.remove(control)
    assert [control.get_attribute("outerHTML")[:200] for control in never_shown] == []


def test_printing_is_light_and_fits_the_paper(page):
    assert_prints_on_light_paper(page, PLOTS)


def test_choosing_a_slice_changes_numbers_and_plots_and_choosing_all_restores_them(page):
    figures = ("forest", "gsb", "curve")
    assert_slices_change_the_page(page, figures, "#verdict [data-metric]", "8 pairs")


def test_no_card_overflows_and_no_table_is_cut(page):
    assert_cards_hold_their_content(page)
    assert_no_table_is_cut_on_a_narrow_page(page)


def test_narrow_page_names_metrics_in_words(browser, address):
    page = open_page(browser, address, width=400)
    labels = drawn(page, "forest")[1]
    assert "Discounted gain<br>per result (DRAG) ↑" in labels
    assert not any("_" in label for label in labels)


def test_narrow_page_names_no_cell_without_a_value(browser, address):
    page = open_page(browser, address, width=400)
    page.execute_script("document.querySelectorAll('details').forEach(one => one.open = true)")
    cells = page.execute_script(
        "return [...document.querySelectorAll('.stacked td')].filter(one => one.offsetParent)"
        ".map(one => [one.dataset.label, one.textContent.trim()])"
    )
    assert ["why", ""] not in cells
    assert [label for label, text in cells if not text] == []
    assert len(cells) > 100


def test_page_of_an_unpaired_comparison_opens(browser, tmp_path):
    output = write_comparison(tmp_path, arms(), "--unpaired")
    open_page(browser, (output / "report.html").as_uri())
    assert browser.get_log("browser") == []
    assert "Welch" in browser.find_element("id", "verdict").text


def test_wide_interval_of_a_slice_is_cut_and_has_an_arrow(browser, tmp_path):
    few = arms("d", {"market": "few"})
    records = [
        [*own, *(their for their in theirs if their["conversation_id"] in ("d-00", "d-01"))]
        for own, theirs in zip(arms(), few, strict=True)
    ]
    output = write_comparison(tmp_path, records, "--slice", "market")
    page = open_page(browser, (output / "report.html").as_uri())
    assert_cut_intervals_have_arrows(page, "slices")


class TestOpenedOnce:
    """Tests that do not change size, colours or log of the page, so they share one page."""

    @pytest.fixture(scope="class")
    @classmethod
    def page(cls, browser, address):
        return open_page(browser, address)

    @pytest.mark.parametrize("plot", PLOTS)
    def test_plot_is_drawn_and_has_its_numbers_in_a_table(self, page, plot):
        assert_plot_is_complete(page, plot)

    def test_numbers_stand_on_the_right_and_words_on_one_line(self, page):
        looks = page.execute_script(
            "return [...document.querySelectorAll('#figure-slices tbody tr:first-child > *')]"
            ".map(one => [one.dataset.label, one.className])"
        )
        assert looks[1] == ["base", "right"]
        assert looks[-1] == ["verdict", "whole"]

    def test_gsb_is_shown_next_to_its_bars(self, page):
        shown = texts(page, "#figure-gsb .annotation-text")
        assert len(shown) == 6
        assert shown[0].startswith("+0.42 (")  # (12 good - 2 bad) / 24

    def test_curve_ends_with_the_last_iteration_that_any_pair_reached(self, page):
        curves, _ = drawn(page, "curve")
        assert {max(x) for x, _ in curves} == {2}  # the means go on to 5

    def test_slices_have_their_n(self, page):
        _, labels = drawn(page, "slices")
        assert labels[0] == "All <i>n = 24</i>"
        assert all("<i>n = " in label for label in labels)

    def test_definition_is_shown_on_focus(self, page):
        term = page.find_element("css selector", ".card .term")
        page.execute_script("arguments[0].focus()", term)
        assert "sum of G_k" in page.find_element("id", "definition").text

    def test_pair_shows_its_key_and_values_under_the_pointer(self, page):
        assert_pointing_shows(page, "pairs", "(+2.000)")

    def test_menus_change_their_plots(self, page):
        assert_menus_change_their_plots(
            page,
            ("scale", "forest", "percent"),
            ("which", "forest", "all"),
            ("curve-metric", "curve", "Good and new results so far (SRE@i)"),
            ("slices-metric", "slices", "Repeated results (SRR)"),
            ("pairs-metric", "pairs", "Good and new results (SRE)"),
        )

    def test_hostile_text_is_shown_but_not_executed(self, page):
        choose(page, "slice", "market = </script>")
        assert texts(page, ".slice-name")[0].startswith("market = </script><img")
        assert any("</script>" in text for text in texts(page, "#figure-pairs td"))
        assert page.find_elements("css selector", "img") == []
        assert page.title.startswith("Good Gain comparison")
        assert page.get_log("browser") == []
