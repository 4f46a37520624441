"""The report of a run with a pool: the share of its good documents found by iteration i."""

import pytest

from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.views.pages.data.slice_numbers import slice_data
from goodgain.pipeline.views.pages.data.slices import read_slices
from goodgain.pipeline.views.pages.run import build_report
from tests.pipeline.runs import manifest, rows, run
from tests.pipeline.studies.pool.steps import build, write_runs
from tests.pipeline.views.pages.browser import drawn, needs_chromium, open_page
from tests.pipeline.views.pages.outputs import market_records, search, write_outputs
from tests.pipeline.views.pages.test_build import Page


def find_documents(last):
    """Conversations a, b and c; a finds a good document per iteration, c has no good document."""
    records = [search("a", i, [(i, 3)]) for i in range(1, last + 1)]
    records += [search("b", 1, [(1, 2)]), search("c", 1, [(1, 0)])]
    return [{**record, "attributes": {"arm": "<b>"}} for record in records]


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """A run that finds two of a's four good documents and b's only one."""
    folder = tmp_path_factory.mktemp("pooled")
    paths = write_runs(folder / "traces", {"base": find_documents(4), "<i>new": find_documents(2)})
    assert build(folder / "pool", paths) == ExitCode.DONE
    options = ("--pool", str(folder / "pool"), "--run-name", "<i>new", "--max-i", "3")
    assert run(folder / "out", [paths["<i>new"]], *options) == ExitCode.DONE
    return folder / "out"


@pytest.fixture(scope="module")
def page(output):
    return Page(build_report(str(output)).page)


@pytest.mark.slow
def test_the_page_has_the_share_by_i_and_its_n(page, output):
    curves = page.data["slices"][0]["curves"]
    means, _, _, texts = curves["all"]["pool_recall_at_i"]
    assert means == pytest.approx([(1 / 4 + 1) / 2, (2 / 4 + 1) / 2, (2 / 4 + 1) / 2])
    assert [n for *_, n in texts] == ["2", "2", "2"]
    assert curves["all"]["n"] == [3, 3, 3]
    assert [n for *_, n in curves["all"]["CG_at_i"][3]] == ["3", "3", "3"]
    assert page.having(id="figure-pool")
    expected = {
        row["i"]: row["mean"]
        for row in rows(output, "means")
        if (row["metric"], row["population"]) == ("pool_recall_at_i", "all")
    }
    assert means == pytest.approx([expected[i] for i in (1, 2, 3)])


@pytest.mark.slow
def test_the_page_names_the_pool_and_its_counts(page, output):
    assert "in which this run is <i>new ." in page.text
    assert "4 were pooled from it, 0 match a document of the pool, and 0 are outside" in page.text
    assert "1 conversation has a topic without a good document" in page.text
    assert manifest(output)["pool"]["folder"] in page.text


def test_a_run_without_a_pool_has_no_pool_section(tmp_path):
    write_outputs(tmp_path / "out", market_records(), slices=())
    page = Page(build_report(str(tmp_path / "out")).page)
    assert not page.having(id="figure-pool")
    assert not page.having(href="#pool")


def test_a_metric_that_is_null_for_some_has_its_own_n():
    common = {"slice": {}, "population": "all", "mean": 0.5, "ci_low": None, "ci_high": None}
    counts = {"calls": [3, 3], "pool_recall_at_i": [2, 1], "cost_i.tokens": [3]}
    means = [
        {**common, "metric": name, "i": i, "n": n, "undefined": 3 - n}
        for name in reversed(counts)
        for i, n in enumerate(counts[name], start=1)
    ]
    means.append({**common, "metric": "N", "i": None, "n": 3, "undefined": 0})
    for name in ("p10", "p50", "p90"):
        means[-1][name] = 1
    (one,) = read_slices(lambda wanted: filter(wanted.takes, means), ()).shown
    curves = slice_data(one, {})["curves"]["all"]
    assert curves["n"] == [3, 3]
    texts = [["50.0 %", "-", "2"], ["50.0 %", "-", "1"]]
    assert curves["pool_recall_at_i"] == [[0.5, 0.5], [None, None], [None, None], texts]
    assert [n for *_, n in curves["calls"][3]] == ["3", "3"]
    # known up to i = 1
    assert curves["cost_i.tokens"] == [[0.5], [None], [None], [["0.500", "-", "3"]]]


@pytest.mark.browser
@needs_chromium
def test_the_share_is_drawn(browser, output):
    open_page(browser, (output / "report.html").as_uri())
    traces, _ = drawn(browser, "pool")
    assert [1, 2] in [x for x, _ in traces]
    assert any(y == pytest.approx([5 / 8, 6 / 8]) for _, y in traces)
    numbers = browser.execute_script(
        "return [...document.querySelectorAll('#figure-pool tbody tr')].map((row) => "
        "[row.cells[0].textContent, row.cells[1].textContent, row.cells[4].textContent])"
    )
    assert ["1", "all conversations", "2"] in numbers
    assert ["2", "reached i", "1"] in numbers
