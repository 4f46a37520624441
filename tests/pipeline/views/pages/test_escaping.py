"""Text from traces is escaped everywhere in the report."""

import re

import pytest
from msgspec.structs import replace

from goodgain.pipeline.views.pages.render import _words, json_island
from goodgain.pipeline.views.pages.run import build_report
from tests.pipeline.views.pages.outputs import rejected_record, search, write_outputs
from tests.pipeline.views.pages.test_build import Page

pytestmark = pytest.mark.slow

ATTACKS = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!--<script>",
    "\"'><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "a\u2028b\u202ec\x00d\ud800",
]


@pytest.fixture(scope="module")
def harmless(tmp_path_factory):
    """The elements of a report with a harmless text in place of an attack."""
    return _elements(tmp_path_factory.mktemp("harmless") / "out", "harmless")


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_text_adds_no_element(tmp_path, harmless, attack):
    attack = attack.encode("utf-8", "ignore").decode()
    assert _elements(tmp_path / "out", attack) == harmless


def _elements(folder, text):
    records = [
        search(f"{text}{at}", i, [(1, 3), (2, 0)], {text: text, "market": text})
        for at in range(3)
        for i in (1, 2)
    ]
    write_outputs(
        folder,
        records,
        slices=(("market",), (text,)),
        rejected=[rejected_record(f"{text} is wrong", text, conversation_id=text, field=text)],
        parameters={"input": [text], "rules": text},
    )
    content = build_report(str(folder)).page
    assert content.count(b"<script") == 3  # the data, the packed plotly and the page's own
    page = Page(content)
    # All slices, lists and examples are present, or the comparison would be empty.
    assert len(page.data["slices"]) == 3
    return [(tag, sorted(attributes)) for tag, attributes in page.elements]


def test_json_in_a_script_element_contains_no_markup():
    island = json_island(ATTACKS[:4])
    assert not re.search("[<>&]", island)


def test_escaped_json_has_the_same_content():
    texts = [text for text in ATTACKS if text.isascii()] + ["\u2028 & <"]
    page = Page(f"<script>{json_island(texts)}</script>".encode())
    assert page.data == texts


def test_template_syntax_in_data_is_not_executed(tmp_path):
    write_outputs(tmp_path / "out", [search("{{ 7 * 7 }}", 1, [(1, 0)])])
    assert "{{ 7 * 7 }}" in Page(build_report(str(tmp_path / "out")).page).text


def test_text_with_a_lone_surrogate_is_escaped(tmp_path):
    manifest = write_outputs(tmp_path / "out", [search("a", 1, [(1, 0)])])
    page = build_report(str(tmp_path / "out"), replace(manifest, engine="\ud800")).page
    assert b"\\ud800" in page


def test_long_texts_are_shortened(tmp_path):
    text = "x" * 100_000
    write_outputs(
        tmp_path / "out",
        [search(text, 1, [(1, 0)], {"market": text, text: "y"})],
        rejected=[rejected_record(f"{text} is wrong", text)],
        parameters={"input": [text]},
    )
    content = build_report(str(tmp_path / "out")).page
    assert max(map(len, re.findall(rb"x{100,}", content))) < 1_000


def test_options_in_sentences_do_not_break_after_a_dash():
    whole = '<span class="whole">--per-call</span>'
    assert _words("Rank with --per-call.") == f"Rank with {whole}."
    assert _words("`--per-call` or <b>") == f"<code>{whole}</code> or &lt;b&gt;"
    assert _words("a -- b, a--b, --") == "a -- b, a--b, --"
