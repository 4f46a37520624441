"""Text and data of the page of a comparison, read from its HTML without a browser."""

import json
import shutil

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.document.numbers import number
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.results.manifest_checks import decode_manifest
from goodgain.pipeline.studies.comparison.manifest import ComparisonManifest
from goodgain.pipeline.views.pages.comparison import build_comparison_report
from tests.pipeline.views.pages.comparison.outputs import (
    ONLY_IN_BASE,
    PAIRS,
    arms,
    edit_manifest,
    write_comparison,
)
from tests.pipeline.views.pages.test_build import LOADING, Page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    return write_comparison(tmp_path_factory.mktemp("compared"), arms(), "--slice", "market")


@pytest.fixture(scope="module")
def page(output):
    return Page((output / "report.html").read_bytes())


def number_of(page, slice_index, metric, part):
    """A number in the page's data; part is ci_low, good, etc."""
    row = page.data["slices"][slice_index]["end"][metric]
    return row[page.data["parts"].index(part)]


def text_of(page, slice_index, metric, part):
    """A text in the page's data."""
    row = page.data["slices"][slice_index]["end"][metric]
    return row[-1][page.data["texts"].index(part)]


def test_rebuilding_the_report_gives_the_same_bytes(output):
    first = (output / "report.html").read_bytes()
    assert main(["report", str(output)]) == 0
    assert (output / "report.html").read_bytes() == first


def test_gsb_is_explained_below_the_table_where_it_first_stands(page):
    table = page.text.split("Every metric at the last iteration")[1]
    explained = "GSB: (good - bad) / pairs, where good pairs got better and bad ones worse."
    assert table.index("GSB") < table.index(explained) < table.index("Good, same, bad")


def test_page_loads_nothing_and_links_its_sections(page):
    for tag, attributes in page.elements:
        assert not LOADING & set(attributes), tag
        if "href" in attributes:
            assert attributes["href"].startswith(("#", "data:"))
    for section in ("verdict", "differences", "gsb", "iterations", "slices", "pairs", "examples"):
        assert page.having(id=section), section
        assert page.having(href=f"#{section}"), section


def test_difference_of_known_runs_is_in_text_and_data(page):
    # Six of twelve gain 2, one loses 1: 11 / 12.
    assert number_of(page, 0, "CG", "difference") == pytest.approx(11 / PAIRS, rel=1e-5)
    assert [number_of(page, 0, "CG", name) for name in ("good", "same", "bad")] == [6, 5, 1]
    assert f"+{11 / PAIRS:.3f}" in page.text
    assert text_of(page, 0, "CG", "difference") == f"+{11 / PAIRS:.3f}"
    assert text_of(page, 0, "CG", "counts") == "6/5/1"
    assert text_of(page, 0, "SRE", "difference").endswith(" pp")
    assert "12 pairs by conversation_id" in page.text


@pytest.mark.parametrize(("slice_index", "slice_"), [(0, {}), (1, {"market": "north"})])
def test_interval_shown_with_a_verdict_is_the_one_it_uses(page, output, slice_index, slice_):
    (row,) = (
        row
        for row in read_dataset(str(output), "comparison")
        if (row["metric"], row["i"], row["slice"]) == ("SRE", None, slice_)
    )
    assert row["verdict_ci_low"] < row["ci_low"]
    assert number_of(page, slice_index, "SRE", "ci_low") == pytest.approx(
        row["verdict_ci_low"], rel=1e-5
    )
    assert number_of(page, slice_index, "SRE", "ci_high") == pytest.approx(
        row["verdict_ci_high"], rel=1e-5
    )


def test_page_has_the_requested_slices(page):
    assert [slice_["label"] for slice_ in page.data["slices"]] == [
        "All conversations",
        "market = north",
        "market = south",
    ]
    assert [slice_["n"] for slice_ in page.data["slices"]] == ["12 pairs", "8 pairs", "4 pairs"]


@pytest.mark.parametrize(
    ("words", "n"), [((), "1 pair"), (("--unpaired",), "1 and 1 conversation")]
)
def test_the_size_of_a_slice_agrees_with_its_count(words, n, tmp_path):
    output = write_comparison(tmp_path, [records[:2] for records in arms()], *words)
    page = Page((output / "report.html").read_bytes())
    assert [slice_["n"] for slice_ in page.data["slices"]] == [n]


def test_page_has_every_pair_with_both_values(page, output):
    pairs = page.data["pairs"]["CG"]
    expected = sorted(
        (
            (-row["difference"], row["key"], *map(number, (row["base"], row["candidate"])))
            for row in read_dataset(str(output), "differences")
            if row["metric"] == "CG"
        ),
    )
    shown = zip(pairs["difference"], pairs["keys"], pairs["texts"], strict=True)
    assert [(-number, key, *texts[1:3]) for number, key, texts in shown] == expected
    assert pairs["ranks"] == list(range(1, PAIRS + 1))


def test_each_example_has_the_command_that_shows_both_arms(page):
    assert "goodgain explain c-01 --input candidate.avro --against base.avro" in page.text
    assert page.text.index("Largest wins") < page.text.index("Largest losses")


def test_conversations_without_a_pair_are_counted_with_a_reason(page, output):
    assert ONLY_IN_BASE not in page.text
    account = json.loads((output / "manifest.json").read_text())["base_account"]
    assert account["unmatched"] == {"without a counterpart": 1}
    assert "without a counterpart 1" in page.text


def test_unpaired_page_has_no_pairs_and_says_so(tmp_path):
    output = write_comparison(tmp_path, arms(), "--unpaired")
    page = Page((output / "report.html").read_bytes())
    assert not any(page.having(id=section) for section in ("gsb", "pairs", "examples"))
    assert "No pairs were formed, as requested" in page.text
    assert "Welch" in page.text


def test_forced_comparison_names_the_differing_parameters(tmp_path):
    output = write_comparison(tmp_path, arms(), "--force", parameters=({}, {"g_max": 3}))
    page = Page((output / "report.html").read_bytes())
    assert "Forced. The runs differ in g_max (4 and 3)" in page.text
    differ, same = page.text.split("enough to repeat it.")[1].split(" parameters are the same ")
    assert "g_max 4 3" in differ
    assert "good_gain_threshold 2" in same


def test_sensitivity_is_shown_only_if_requested(output, page):
    assert not page.having(id="sensitivity")
    row = next(
        row
        for row in read_dataset(str(output), "comparison")
        if (row["metric"], row["i"], row["slice"]) == ("CG", None, {})
    )
    row |= {"policy": "exact ids only", "base_mean": 1.0, "candidate_mean": 1.5, "difference": 0.5}
    row |= {"verdict_ci_low": 0.25, "verdict_ci_high": 0.75, "p_holm": None, "verdict": "worse"}
    row["verdict_changes"] = True
    manifest = json.loads((output / "manifest.json").read_text())
    manifest = decode_manifest({**manifest, "sensitivity": [row]}, ComparisonManifest, str(output))
    page = Page(build_comparison_report(str(output), manifest))
    assert (
        "Gain (CG) exact ids only 1.000 1.500 +0.500 +0.250..+0.750 - worse (changes)" in page.text
    )


def test_family_without_a_metric_at_n_gives_a_page(tmp_path):
    output = write_comparison(tmp_path, arms(), "--metrics", "AvgGain_i")
    page = Page((output / "report.html").read_bytes())
    assert list(page.data["metrics"]["iteration"]) == ["AvgGain_i"]
    assert "The declared family has only metrics at an iteration" in page.text


def test_manifest_of_an_unknown_kind_is_refused(tmp_path, capsys):
    output = write_comparison(tmp_path, arms())
    edit_manifest(output, kind="something else")
    capsys.readouterr()
    assert main(["report", str(output)]) == 2
    assert "is not the output of" in capsys.readouterr().err


def test_comparison_without_its_rows_is_a_usage_error(tmp_path, capsys):
    output = write_comparison(tmp_path, arms())
    shutil.rmtree(output / "comparison")
    assert main(["report", str(output)]) == 2
    assert "comparison has 0 rows, but" in capsys.readouterr().err


def test_wins_and_losses_have_metrics_in_words_and_shares_in_percent(page):
    _, _, wins = page.text.partition("Largest wins")
    # The second document is good in the candidate only.
    assert "Gain (CG) 3 to 5 (+2.000), Iterations (N) 2 to 2, Results (R) 4 to 4" in wins
    assert "Good and new results (SRE) 25.0 % to 50.0 %, Repeated results (SRR) 25.0 %" in wins
