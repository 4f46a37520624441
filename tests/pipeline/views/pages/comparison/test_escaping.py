"""Text from traces and folders is escaped everywhere in the page of a comparison."""

import pytest

from tests.pipeline.views.pages.comparison.outputs import arms, write_comparison
from tests.pipeline.views.pages.test_build import Page
from tests.pipeline.views.pages.test_escaping import ATTACKS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def harmless(tmp_path_factory):
    return _elements(tmp_path_factory.mktemp("harmless"), "harmless")


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_text_adds_no_element(tmp_path, harmless, attack):
    attack = attack.encode("utf-8", "ignore").decode()
    assert _elements(tmp_path, attack) == harmless


def _elements(folder, text):
    records = [
        [dict(record, attributes={"market": text, text: text}) for record in of_arm]
        for of_arm in arms(text)
    ]
    parameters = {"input": [text], "rules": text}
    words = ("--slice", "market", "--slice", text.replace(",", ";"))
    output = write_comparison(folder, records, *words, parameters=(parameters, parameters))
    content = (output / "report.html").read_bytes()
    assert content.count(b"<script") == 3  # the data, the packed plotly and the page's own
    page = Page(content)
    assert len(page.data["slices"]) == 3
    assert len(page.data["pairs"]["CG"]["keys"]) == 12
    return [(tag, sorted(attributes)) for tag, attributes in page.elements]
