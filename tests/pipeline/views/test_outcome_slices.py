"""Outcomes and repeats by slice, in the report of a run."""

import re
from html import unescape

import pytest

import goodgain as gg
from goodgain.pipeline.views.pages.run import build_report


def conversation(number, market, query, gain, right):
    return {
        "conversation_id": f"c{number}",
        "iteration": 1,
        "attributes": {"market": market, "query_id": query},
        "results": [{"id": f"d{number}", "gain": gain}],
        "outcomes": {"correct": right, "errors": 1 - right},
    }


# In DE good material is found and read, in US it is not read, in FR results have no labels.
RECORDS = [
    conversation(*arguments)
    for arguments in (
        (1, "DE", "q1", 3, 1),
        (2, "DE", "q1", 4, 1),
        (3, "DE", "q2", 0, 0),
        (4, "DE", "q2", 0, 1),
        (5, "US", "q3", 3, 0),
        (6, "US", "q3", 2, 0),
        (7, "US", "q4", 2, 1),
        (8, "FR", "q5", None, 1),
    )
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slices") / "out"
    run = gg.evaluate(
        RECORDS,
        slices=["market"],
        outcome=["correct", "errors:lower"],
        cluster="query_id",
        pass_=["outcome.correct >= 1"],
    )
    run.save(folder)
    return build_report(str(folder)).page.decode()


def lines(page, section, caption):
    """The cells of a table's lines."""
    part = page[page.index(f'<section id="{section}"') :].split("</section>")[0]
    (table,) = (rest for rest in part.split("<table")[1:] if f"<caption>{caption}" in rest)
    rows = table.split("<tbody>")[1].split("</tbody>")[0].split("<tr>")[1:]
    cells = (re.split(r"</t[hd]>", row)[:-1] for row in rows)
    return [
        [" ".join(unescape(re.sub(r"<[^>]+>", " ", cell)).split()) for cell in row] for row in cells
    ]


@pytest.mark.parametrize("outcome", ["correct", "errors"])
def test_found_against_right_by_slice(page, outcome):
    """Few errors are good, so both outcomes say the same."""
    german, french, american = lines(page, "outcomes", f"{outcome} by slice")
    assert german[:5] == ["market = DE", "3 (75.0 %)", "0 (0.0 %)", "1 (25.0 %)", "1 (25.0 %)"]
    assert american[:5] == ["market = US", "1 (33.3 %)", "2 (66.7 %)", "0 (0.0 %)", "0 (0.0 %)"]
    assert french == ["market = FR", "1 (100.0 %)", "-", "-", "-", "-"]
    assert german[5].startswith({"correct": "0.83", "errors": "0.17"}[outcome])


def test_repeats_by_slice(page):
    german, french, american = lines(page, "repeats", "How often repeats pass, by slice")
    assert german[:2] == ["market = DE", "outcome.correct >= 1"]
    assert [cell.split(" %")[0] for cell in german[2:]] == ["75.0", "100", "50.0", "50.0"]
    assert american[2].startswith("50.0 %")
    assert american[2].endswith("n 2")
    assert french[2].startswith("100 %")


def test_what_was_opened_may_predict_the_outcome(tmp_path):
    """Right answers opened what they had found, the others did not."""
    records = []
    for number in range(24):
        right = number % 2
        name, url = f"c{number}", f"https://a.org/{number}"
        found = [{"url": url, "gain": 3}, {"url": f"{url}/more", "gain": 2}]
        opened = found if right or number == 2 else found[:1]
        records += [
            {"conversation_id": name, "iteration": 1, "results": found},
            {
                "conversation_id": name,
                "iteration": 2,
                "action": "open",
                "results": opened,
                "outcomes": {"correct": right},
            },
        ]
    run = gg.evaluate(records)
    run.save(tmp_path / "out")
    page = build_report(str(tmp_path / "out")).page.decode()
    assert "open_recall predicts it best (AUC 0.96" in page


def test_without_slices_there_are_no_such_tables(tmp_path):
    run = gg.evaluate(RECORDS, cluster="query_id", pass_=["CG >= 3"])
    run.save(tmp_path / "out")
    page = build_report(str(tmp_path / "out")).page.decode()
    assert 'id="outcomes"' in page
    assert "by slice" not in page[page.index('id="outcomes"') :].split('id="headline"')[0]
