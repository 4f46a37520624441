"""The pages as a site: built without a warning, and readable in a narrow window."""

import re
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

ROOT = Path(__file__).parents[1]
CODE = re.compile(r"<pre.*?</pre>|<code>(.*?)</code>", re.DOTALL)
WHOLE = re.compile(r'<span class="whole">[^<]*</span>')


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The HTML of each page by its name."""
    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    assert not (folder / "hooks.py").exists()
    return {path.parent.name: path.read_text() for path in folder.glob("*/index.html")}


def test_no_line_ends_within_an_option(pages):
    """Browsers may end it after each hyphen, of `--max-i` after `--`."""
    options = 0
    for name, page in pages.items():
        for code in filter(None, CODE.findall(page)):
            breakable = re.findall(r"--[a-z][\w-]*", WHOLE.sub("", code))
            assert not [option for option in breakable if "=" not in code], (name, code)
            options += "--" in code
    assert options > 300


def test_cells_with_sentences_have_a_width_at_which_they_can_be_read(pages):
    assert '<td class="sentences">there are labels, but none reaches' in pages["input"]
    assert '<td class="number">1</td>' in pages["run"]
    rules = (ROOT / "docs" / "tables.css").read_text()
    assert re.search(r"td\.sentences \{ min-width: [\d.]+rem; \}", rules)
    assert re.search(r"\.whole \{ white-space: nowrap; \}", rules)


def test_groups_of_metrics_are_in_the_table_of_contents(pages):
    assert 'href="#metrics-of-the-ranked-list"' in pages["metrics"]


def test_no_line_ends_before_a_percent_sign(pages):
    """Outside code, which is copied as it stands."""
    shares = 0
    for name, page in pages.items():
        assert not re.search(r"\d %", CODE.sub("", page)), name
        shares += page.count("\N{NO-BREAK SPACE}%")
    assert shares > 50
    assert "<code>drop &lt;= 2 %</code>" in re.sub(r"</?span[^>]*>", "", pages["compare"])


def test_tables_fit_beside_the_menu(pages):
    """With a column for each property of a metric or an engine, the last ones are out of sight."""
    rows = 0
    for name, page in pages.items():
        for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL):
            assert row.count('class="sentences"') <= 4, (name, row)
            rows += 1
    assert rows > 300


def test_long_names_may_break_on_a_telephone(pages):
    assert '<span class="whole name">judgments_<wbr>met_<wbr>again</span>' in pages["input"]
    wide, narrow = (ROOT / "docs" / "tables.css").read_text().split("@media")
    assert ".name wbr { display: none; }" in wide  # or sentences break there, too
    assert "td .name wbr { display: inline; }" in narrow
