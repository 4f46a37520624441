"""A real Chromium that opens pages from disk and records what they request."""

import json
import shutil
from contextlib import contextmanager

import pytest

CHROMIUM = shutil.which("chromium")
CHROMEDRIVER = shutil.which("chromedriver")
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Scripts run for a second; optimising them takes longer than it saves.
    "--js-flags=--no-opt --max-lazy",
)
HOSTILE = "</script><img src=x onerror=document.title='run'><script>document.title='run'</script>"
DRAWN_FIRST = "return 'drawn' in document.documentElement.dataset"
# The points of each trace that plotly has drawn, and the labels of its y axis.
DRAWN = """
const plot = document.querySelector(`#figure-${arguments[0]} .plot`);
return [plot.data.map((trace) => [[...trace.x], [...trace.y]]), plot.layout.yaxis.ticktext];
"""
# The texts that pass the inner edge of their card.
OVERFLOWING = """
const found = [];
for (const card of document.querySelectorAll(".card, .conversation")) {
  const edge = card.getBoundingClientRect().right - parseFloat(getComputedStyle(card).paddingRight);
  const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const {right} = range.getBoundingClientRect();
    if (right > edge + 1) found.push(walker.currentNode.textContent.trim());
  }
}
return found;
"""
# The headings of the tables that are wider than their place, with all details open.
CUT_TABLES = """
document.querySelectorAll("details").forEach((one) => { one.open = true; });
return [...document.querySelectorAll(".scroll")]
  .filter((one) => one.scrollWidth > one.clientWidth)
  .map((one) => one.getAttribute("aria-label"));
"""
# For each interval that ends outside a plot, the axis and the edge; and the same for each arrow.
CUTS = """
const plot = document.querySelector(`#figure-${arguments[0]} .plot`);
const {xaxis, yaxis} = plot.layout;
const ranges = {x: xaxis.range, y: yaxis.range};
const cut = [];
const arrows = [];
const edges = {left: "x0", right: "x1", down: "y0", up: "y1"};
for (const trace of plot.data) {
  const [, way] = /^triangle-(left|right|down|up)$/.exec(trace.marker?.symbol) ?? [];
  if (way) arrows.push(...trace.x.map(() => edges[way]));
  for (const along of ["x", "y"]) {
    const bars = trace[`error_${along}`];
    if (!bars) continue;
    trace[along].forEach((value, at) => {
      if (value - bars.arrayminus[at] < ranges[along][0]) cut.push(`${along}0`);
      if (value + bars.array[at] > ranges[along][1]) cut.push(`${along}1`);
    });
  }
}
return [cut.toSorted(), arrows.toSorted()];
"""
# For each arrow, whether all of it is visible: not clipped by the plot, and inside the figure.
UNCLIPPED = """
const plot = document.querySelector(arguments[0]);
const paper = plot.getBoundingClientRect();
const isArrow = ({marker}) => /^triangle-(left|right|down|up)$/.test(marker?.symbol);
return plot.calcdata.filter(([{trace}]) => isArrow(trace)).flatMap(([{node3, trace}]) => {
  const points = [...node3.node().querySelectorAll(".point")];
  return points.map((point) => {
    const {left, right} = point.getBoundingClientRect();
    return trace.cliponaxis === false && left >= paper.left && right <= paper.right;
  });
});
"""
# How many marks of a figure and points of its curves the box covers; null if none is shown.
BESIDE = """
const figure = document.getElementById(`figure-${arguments[0]}`);
const box = figure.querySelector(".beside")?.getBoundingClientRect();
if (!box) return null;
const covers = ({x, y}) => box.left < x && x < box.right && box.top < y && y < box.bottom;
const marks = [...figure.querySelectorAll(".trace .point")].map((mark) => {
  const {x, y, width, height} = mark.getBoundingClientRect();
  return {x: x + width / 2, y: y + height / 2};
});
const curves = [...figure.querySelectorAll("path.js-line")].flatMap((path) => {
  const places = [...Array(200).keys()].map((at) => path.getTotalLength() * at / 200);
  return places.map((at) => path.getPointAtLength(at).matrixTransform(path.getScreenCTM()));
});
return [...marks, ...curves].filter(covers).length;
"""

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None or CHROMEDRIVER is None,
    reason="Chromium is not installed (Debian packages chromium and chromium-driver)",
)


@contextmanager
def chromium(profile):
    """A browser with an empty profile that records its console messages and requests."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(executable_path=CHROMEDRIVER)
    )
    try:
        yield browser
    finally:
        browser.quit()


def resize(browser, width, height=900):
    """Set the size of the page, which may be narrower than a desktop window can be."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def prefer(browser, scheme):
    """Set the preferred colour scheme, `light` or `dark`."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})


def requested_urls(browser):
    """URLs that the page has requested since the last call, without data URLs."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    return [url for url in urls if not url.startswith("data:")]


def open_page(browser, address, width=1_600, scheme="light"):
    """Open a page, after discarding the messages and requests of earlier ones."""
    prefer(browser, scheme)
    resize(browser, width)
    requested_urls(browser)
    browser.get_log("browser")
    browser.get("about:blank")
    browser.get(address)
    # Plots are drawn once their library is unpacked.
    eventually(browser, lambda: browser.execute_script(DRAWN_FIRST))
    return browser


def assert_opens_cleanly(page, address):
    """The page logged no errors, requested nothing else, and fits the window."""
    sizes = "const root = document.documentElement; return [root.scrollWidth, root.clientWidth];"
    wide, window = page.execute_script(sizes)
    assert page.get_log("browser") == []
    assert set(requested_urls(page)) <= {address, "about:blank"}
    assert wide <= window


def assert_prints_on_light_paper(page, plots):
    """The page prints in light colours with plots that fit paper, and is as before afterwards."""
    width = "return document.querySelector(`#figure-${arguments[0]} .plot svg`).clientWidth"
    theme = "return document.documentElement.dataset.theme"
    prefer(page, "dark")
    before = [page.execute_script(width, plot) for plot in plots]
    page.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert page.execute_script(theme) == "light"
    for plot in plots:
        assert page.execute_script(width, plot) <= 660, plot
    page.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert [page.execute_script(width, plot) for plot in plots] == before
    assert max(before) > 660
    assert not page.execute_script(theme)


def assert_slices_change_the_page(page, figures, numbers, counted):
    """A slice changes numbers and plots, all conversations restore them, and a reader is told.

    Args:
      numbers: selects the elements with numbers, which the script formats like the written page.
      counted: what the page says that the slice has, like "6 conversations".
    """
    written = texts(page, numbers)
    before = {figure: drawn(page, figure) for figure in figures}
    choose(page, "slice", "market = north")
    assert set(texts(page, ".slice-name")) == {"market = north"}
    assert texts(page, numbers) != written
    for figure in figures:
        assert drawn(page, figure) != before[figure], figure
    assert f"market = north: {counted}" in texts(page, "#status")[0]
    choose(page, "slice", "All conversations")
    assert texts(page, numbers) == written
    assert {figure: drawn(page, figure) for figure in figures} == before


def assert_cards_hold_their_content(page):
    assert page.find_elements("css selector", ".card")
    for width in (400, 900, 1_280, 1_440):
        resize(page, width)
        assert page.execute_script(OVERFLOWING) == [], width


def assert_no_table_is_cut_on_a_narrow_page(page):
    """Each row is one line of `heading: value` after the other, so that no column is hidden."""
    resize(page, 400)
    eventually(page, lambda: page.execute_script("return innerWidth") == 400)
    assert page.execute_script(CUT_TABLES) == []


def assert_cut_intervals_have_arrows(page, plot):
    """As many arrows at each edge as intervals end beyond it, and at least one; none is clipped."""
    cut, arrows = page.execute_script(CUTS, plot)
    assert cut
    assert arrows == cut
    figure = f"#figure-{plot} .plot"
    inside = page.execute_script(UNCLIPPED, figure)
    assert len(inside) == len(arrows)
    assert all(inside)


def assert_plot_is_complete(page, plot):
    """A plot is drawn, and has a text description and a table with its numbers."""
    assert page.find_elements("css selector", f"#figure-{plot} svg.main-svg")
    assert page.find_elements("css selector", f"#figure-{plot} svg .trace")
    assert texts(page, f"#figure-{plot} tbody td")
    label = page.find_element("css selector", f"#figure-{plot} .plot").get_attribute("aria-label")
    assert len(label) > 20


def drawn(page, plot):
    return page.execute_script(DRAWN, plot)


def choose(page, menu, text):
    from selenium.webdriver.support.ui import Select

    menu = Select(page.find_element("id", menu))
    (option,) = [option for option in menu.options if option.text.startswith(text)]
    menu.select_by_value(option.get_attribute("value"))


def assert_menus_change_their_plots(page, *menus):
    """Choosing an option in each menu changes its plot.

    Args:
      menus: (menu, plot, start of the option's text).
    """
    for menu, plot, text in menus:
        before = drawn(page, plot)
        choose(page, menu, text)
        assert drawn(page, plot) != before, menu


def assert_pointing_shows(page, plot, shown, mark=".trace.bars .point"):
    """Pointing at the first mark of a plot shows a text."""
    from selenium.webdriver.common.action_chains import ActionChains

    point = page.find_element("css selector", f"#figure-{plot} {mark}")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", point)
    ActionChains(page).move_to_element(point).perform()
    selector = f"#figure-{plot} .pointed"
    eventually(page, lambda: any(shown in text for text in texts(page, selector)))


def texts(page, selector):
    # In one call, since tables have hundreds of cells and calls of the driver are slow.
    cells = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent);"
    return page.execute_script(cells, selector)


def eventually(page, condition):
    """Wait until a condition holds; some changes show only in the browser's next frame."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(page, timeout=20).until(lambda _: condition())
