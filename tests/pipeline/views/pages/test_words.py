"""Words, units and shares of the report, read from its HTML without a browser."""

import pytest
from msgspec.structs import replace

from goodgain.pipeline.views.pages.run import build_report
from tests.pipeline.views.pages.outputs import search, write_outputs
from tests.pipeline.views.pages.test_build import Page

pytestmark = pytest.mark.slow


# Five results, of which two are copies; one copy has another label than the first.
RECORDS = [search("c", 1, [(1, 3), (2, 0), (3, 0)]), search("c", 2, [(1, 3), (2, 1)])]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words") / "out"
    write_outputs(folder, RECORDS)
    return Page(build_report(str(folder)).page)


def test_conversations_have_metrics_in_words_and_shares_in_percent(page):
    assert (
        "Good and new results (SRE) 20.0 % Repeated results (SRR) 40.0 % Gain (CG) 3 "
        "Results (R) 5 Iterations (N) 2 Iterations after the last good 1"
    ) in page.text


def test_shares_say_of_what(page):
    assert "Copies: repeat an earlier result 2 40.0 % of results" in page.text
    assert "copies labelled differently 1 50.0 % of labelled copies" in page.text
    assert (
        "1 copy (50.0 % of the labelled copies) has another label than the first occurrence, whose "
        "label counts."
    ) in page.text


def test_terms_of_the_tables_of_means_are_explained_below_each(page):
    tables = page.text.split("Ranking metrics: All conversations")
    assert "Undefined: conversations in which the metric has no value" in tables[0]
    below = tables[1].split("Worth looking at")[0]
    assert "(own ideal)" in below
    assert "own ideal: the ideal list has only what this run found" in below


def test_a_share_of_all_results_says_how_it_differs_from_the_mean_over_conversations(tmp_path):
    """Of 5 + 1 results 2 are copies: 33.3 %, but 40 % and 0 % of either conversation."""
    write_outputs(tmp_path / "out", [*RECORDS, search("d", 1, [(1, 3)])])
    page = Page(build_report(str(tmp_path / "out")).page)
    assert "Repeated results (SRR) 20.0 %" in page.text
    assert (
        "2 of 6 results (33.3 %) repeat an earlier one; here each result weighs the same, so long "
        "conversations weigh more than in the mean over conversations, 20.0 %."
    ) in page.text


def test_copies_are_no_share_of_a_count_that_an_earlier_version_lacks(tmp_path):
    manifest = write_outputs(tmp_path / "out", RECORDS)
    results = replace(manifest.results, labelled_duplicates=None)
    page = Page(build_report(str(tmp_path / "out"), replace(manifest, results=results)).page)
    assert "1 copy has another label than the first occurrence, whose label counts." in page.text
