"""The content of the report, read from its HTML without a browser."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from goodgain.pipeline.results import finished_run
from goodgain.pipeline.views.pages.run import build_report
from goodgain.pipeline.views.pages.sections.section_parts import parameter_blocks
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from goodgain.transforms.filesystems import open_plain
from tests.pipeline.views.pages.outputs import (
    market_records,
    rejected_record,
    search,
    write_outputs,
)

pytestmark = pytest.mark.slow

LOADING = {"src", "srcset", "action", "formaction", "poster", "background", "ping", "cite"}


class Page(HTMLParser):
    """Elements with their attributes, the text outside scripts, and each script's text."""

    def __init__(self, content):
        super().__init__()
        self.elements, self.words, self.scripts, self._within = [], [], [], None
        self.feed(content.decode("utf-8"))

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._within = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._within = None

    def handle_data(self, text):
        if self._within == "script":
            self.scripts[-1] += text
        elif self._within != "style":
            self.words.append(text)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    @property
    def data(self):
        return json.loads(self.scripts[0])

    def having(self, **wanted):
        return [
            (tag, attributes)
            for tag, attributes in self.elements
            if all(attributes.get(name) == value for name, value in wanted.items())
        ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "out"
    write_outputs(folder, market_records(), rejected=[rejected_record()])
    return folder


@pytest.fixture(scope="module")
def page(folder):
    return Page(build_report(str(folder)).page)


def test_headline_has_the_means_with_their_intervals(page):
    # CG is 3 + (document 2 if good) + (4 if odd); computed by hand for at = 0..11.
    gains = [3 + (at % 5 if at % 5 >= 2 else 0) + (4 if at % 2 else 0) for at in range(12)]
    everything = page.data["slices"][0]
    assert everything["n"] == "12"
    assert everything["end"]["CG"][0] == pytest.approx(sum(gains) / 12, rel=1e-5)
    for name in ("CG", "SRE", "SRR", "iterations_for_all_good_results"):
        assert ("span", {"data-metric": name, "data-part": "mean"}) in page.elements
        assert ("span", {"data-metric": name, "data-part": "interval"}) in page.elements
    low, high = everything["end"]["CG"][1:3]
    assert f"{low:.3f}..{high:.3f}" in page.text
    texts = dict(zip(page.data["texts"], everything["end"]["CG"][-1], strict=True))
    assert texts["mean"] == f"{sum(gains) / 12:.3f}"
    assert texts["interval"] == f"{low:.3f}..{high:.3f}"


def test_every_metric_has_a_definition_and_every_term_links_to_one(page):
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    for metric in CONVERSATION_METRICS:
        assert f"definition-end-{metric.name}" in ids
        assert metric.formula in page.text
    for metric in GAINS.by_i:
        assert f"definition-iteration-{metric.name}" in ids
    for name in ("ndcg@10", "rbp.8", "gauc_weighted"):
        assert f"definition-end-{name}" in ids
    terms = [attributes["href"] for _, attributes in page.having(**{"class": "term"})]
    assert terms
    for term in terms:
        assert term.removeprefix("#").replace("%40", "@") in ids


def test_ids_are_unique_and_labels_refer_to_elements(page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for name in ("for", "aria-labelledby"):
            assert attributes.get(name, ids[0]) in ids


def test_page_has_landmarks_and_headings_without_skipped_levels(page):
    tags = [tag for tag, _ in page.elements]
    for landmark in ("header", "nav", "main"):
        assert tags.count(landmark) == 1
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    assert tags.count("table") == tags.count("caption")


def test_data_of_slices_agrees_with_the_conversations(page):
    (dimension,) = page.data["dimensions"]
    assert dimension["label"] == "market"
    north, south = (page.data["slices"][at] for at in dimension["slices"])
    assert (north["label"], south["label"]) == ("market = north", "market = south")
    assert north["n"] == south["n"] == "6"
    for slice_ in page.data["slices"]:
        for metric, (counts, texts) in slice_["histograms"].items():
            n = slice_["end"][metric][-1][page.data["texts"].index("n")]
            assert (str(sum(counts)), texts) == (n, list(map(str, counts))), metric


def test_curves_have_both_populations(page):
    curves = page.data["slices"][0]["curves"]
    assert curves["reached"]["n"] == [12, 12, 4, 0, 0]
    assert curves["all"]["n"] == [12] * 5
    assert curves["reached"]["CG_at_i"][0][3] is None
    assert curves["all"]["CG_at_i"][0][4] == curves["all"]["CG_at_i"][0][2]


def test_rejected_records_are_shown_with_reason_and_example(page):
    assert "gain must be a whole number from 0 to 4, got 9." in page.text
    assert "1 record: gain must be a whole number from 0 to 4" in page.text
    assert "in.avro, record 3" in page.text


def test_parameters_without_a_value_are_folded(page):
    given, folded = page.text.split("Manifest")[-1].split(" off, or not given ", 1)
    assert "good_gain_threshold 2" in given
    assert "rules null" not in given
    assert "rules null" in folded


def test_parameters_have_the_names_of_their_options():
    given, folded = parameter_blocks("Parameters", {"pass_": ["CG >= 5"], "qrels": None})
    assert [[cell.text for cell in row] for row in given.rows] == [["pass", '["CG >= 5"]']]
    assert folded.summary == "1 parameter is off, or not given"


def test_duplicates_are_counted_by_type_and_step(page):
    assert page.data["types"] == [["File", 80, 20, ["80", "20", "25.0 %", "60"]]]
    assert "an id that identifies the document is the same" in page.text


def test_noteworthy_conversations_are_shown_with_their_command(page):
    assert "goodgain explain c-00 --input in.avro" in page.text
    assert "Fewest good, new results" in page.text
    bars = [attributes for tag, attributes in page.elements if attributes.get("class") == "bars"]
    assert bars
    assert all("new good" in attributes["aria-label"] for attributes in bars)


def test_page_loads_nothing_and_allows_only_its_own_scripts(page):
    for tag, attributes in page.elements:
        assert not LOADING & attributes.keys(), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        if "href" in attributes:
            assert attributes["href"].startswith(("#", "data:")), (tag, attributes)
    ((_, policy),) = page.having(**{"http-equiv": "Content-Security-Policy"})
    assert "default-src 'none'" in policy["content"]
    assert policy["content"].count("'sha256-") == 2
    assert "script-src 'unsafe-inline'" not in policy["content"]


def test_styles_load_nothing(folder):
    styles = re.search(rb"<style>(.*?)</style>", build_report(str(folder)).page, re.DOTALL)[1]
    assert b"@import" not in styles
    assert all(reference.startswith(b"#") for reference in re.findall(rb"url\((.*?)\)", styles))


@pytest.mark.parametrize("file_format", ["parquet", "jsonl"])
def test_page_does_not_depend_on_the_format_of_the_outputs(tmp_path, folder, file_format):
    write_outputs(
        tmp_path / "out",
        market_records(),
        rejected=[rejected_record()],
        file_format=file_format,
    )
    assert build_report(str(tmp_path / "out")).page == build_report(str(folder)).page


def test_report_can_be_built_from_a_manifest_that_is_not_yet_written(tmp_path):
    manifest = write_outputs(tmp_path / "out", market_records())
    published = build_report(str(tmp_path / "out")).page
    (tmp_path / "out" / "manifest.json").unlink()
    assert build_report(str(tmp_path / "out"), manifest).page == published
    with pytest.raises(UsageError, match=r"manifest\.json"):
        build_report(str(tmp_path / "out"))


def test_run_without_any_search_says_so(tmp_path):
    unsearched = search("a", 1, [], turn_count=2)
    write_outputs(tmp_path / "out", [unsearched])
    page = Page(build_report(str(tmp_path / "out")).page)
    assert "o conversation both searched" in page.text
    assert page.data["slices"] == []


def test_run_of_one_conversation_has_no_interval(tmp_path):
    write_outputs(tmp_path / "out", [search("a", 1, [(1, 3)])])
    page = Page(build_report(str(tmp_path / "out")).page)
    assert page.data["slices"][0]["end"]["CG"][:3] == [3.0, None, None]
    assert "95 %: -" in page.text


def test_too_many_rejected_records_are_reported_first(tmp_path):
    manifest = write_outputs(tmp_path / "out", market_records(), rejected=[rejected_record()])
    manifest = replace(manifest, records=replace(manifest.records, too_many_rejected=True))
    page = Page(build_report(str(tmp_path / "out"), manifest).page)
    assert "Too many records were rejected." in page.text


def test_reads_conversations_once(tmp_path, monkeypatch):
    write_outputs(tmp_path / "out", [search("a", 1, [(1, 0)]), search("b", 1, [(1, 3)])])
    read = []

    def opened(path):
        read.append(Path(path).parent.name)
        return open_plain(path)

    monkeypatch.setattr(finished_run, "open_plain", opened)
    build_report(str(tmp_path / "out"))
    assert read.count("conversations") == 1
    assert read.count("iterations") == 1


def test_card_of_a_conversation_without_results_says_so(tmp_path):
    records = [*market_records(2), search("c-empty", 1, [])]
    write_outputs(tmp_path / "out", records)
    assert "It found nothing." in Page(build_report(str(tmp_path / "out")).page).text
    write_outputs(tmp_path / "full", market_records(2))
    assert "It found nothing." not in Page(build_report(str(tmp_path / "full")).page).text


def test_cards_without_labels_are_about_repetition_alone(tmp_path):
    records = [search(name, 1, [(1, None), (1, None)]) for name in "abc"]
    write_outputs(tmp_path / "out", records)
    text = Page(build_report(str(tmp_path / "out")).page).text
    assert "Most repetition" in text
    assert "Fewest good, new results" not in text
