"""The way of good documents from found to opened to cited, and what was lost on it."""

import re

import pytest

import goodgain as gg
from goodgain.pipeline.views.pages.run import build_report
from goodgain.pipeline.views.way import WaySums, losses


def doc(name, gain=None):
    return {"url": f"https://ex.org/{name}", "gain": gain}


def conversation(name, arm, opened, cited):
    """Search found a, b and d, which are good, and c; it asked twice the same."""
    found = [doc("a", 3), doc("b", 2), doc("c", 0)]
    records = [
        {"iteration": 1, "query": "fire", "results": found},
        {"iteration": 2, "query": "Fire?", "results": [doc("d", 4)]},
        {"iteration": 3, "query": "witness", "error": "timeout"},
        {"iteration": 4, "action": "open", "results": list(map(doc, opened))},
        {"iteration": 5, "action": "cite", "results": list(map(doc, cited))},
    ]
    return [{"conversation_id": name, "attributes": {"arm": arm}, **record} for record in records]


@pytest.fixture(scope="module")
def run():
    return gg.evaluate(
        [*conversation("1", "A", "ac", "adx"), *conversation("2", "B", "abd", "a")],
        slices=["arm"],
    )


def test_steps_count_the_good_documents_that_got_so_far(run):
    sums = WaySums([{}, {"arm": "A"}, {"arm": "C"}])
    for row in run.conversations:
        sums.add(row)
    everything, arm_a = sums.ways()
    assert [(step.label, step.count) for step in everything.steps] == [
        ("found", 6),
        ("opened", 4),
        ("cited", 3),
    ]
    assert [step.text for step in arm_a.steps] == ["3", "1, 33.3 %", "2, 66.7 %"]
    assert losses(everything) == (
        "Of 6 good documents found, 2 (33.3 %) were never opened and 3 (50.0 %) were never cited."
    )
    assert everything.beside == (
        "1 cited document was found by no search.",
        "2 cited documents were never opened.",
    )
    assert sums.calls() == (
        "Of 6 search calls, 33.3 % repeat the query of an earlier one; 33.3 % returned nothing; "
        "33.3 % failed."
    )


def test_the_report_draws_the_way_over_all_and_by_slice(run, tmp_path):
    run.save(tmp_path / "out")
    page = build_report(str(tmp_path / "out")).page.decode()
    section = page[page.index('<section id="way"') :].split("</section>")[0]
    assert "2 (33.3\N{NO-BREAK SPACE}%) were never opened" in section  # on one line
    assert section.count('class="bars"') == 9  # three steps of all, A and B
    assert "arm = B" in section
    assert "33.3\N{NO-BREAK SPACE}% repeat the query" in page


def test_the_page_of_a_comparison_draws_the_way_of_both_arms_by_slice(tmp_path):
    records = [*conversation("1", "A", "ac", "adx"), *conversation("2", "A", "abd", "a")]
    base = [{**record, "attributes": {"market": "DE"}} for record in records]
    opened = [*conversation("1", "A", "abd", "abd"), *conversation("2", "A", "ab", "")]
    candidate = [{**record, "attributes": {"market": "DE"}} for record in opened]
    options = {"slices": ["market"], "max_i": 1}
    compared = gg.compare(
        gg.evaluate(base, **options), gg.evaluate(candidate, **options), slices=["market"]
    )
    compared.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    section = page[page.index('<section id="way"') :].split("</section>")[0]
    text = " ".join(re.sub(r"<[^>]+>", " ", section).split())
    assert "Base: Of 6 good documents found, 2 (33.3 %) were never opened" in text
    assert "Candidate: Of 6 good documents found, 1 (16.7 %) was never opened" in text
    assert "market = DE, candidate found 6 opened 5, 83.3 % 1 (16.7 %) was never opened" in text
    assert "Base: 1 cited document was found by no search." in text


def test_a_comparison_without_such_records_has_no_way(tmp_path):
    records = [record for record in conversation("1", "A", "", "") if "action" not in record]
    compared = gg.compare(gg.evaluate(records), gg.evaluate(records))
    compared.report(tmp_path / "report.html")
    assert 'id="way"' not in (tmp_path / "report.html").read_text()


def test_a_run_without_such_records_has_no_way(tmp_path):
    records = [record for record in conversation("1", "A", "", "") if "action" not in record]
    run = gg.evaluate(records)
    assert not [name for name in run.conversations[0] if name.startswith(("open", "cite"))]
    run.save(tmp_path / "out")
    assert b'id="way"' not in build_report(str(tmp_path / "out")).page
    sums = WaySums([{}])
    sums.add(run.conversations[0])
    assert sums.ways() == []


def test_without_records_of_openings_there_is_no_step_for_them():
    records = [
        record for record in conversation("1", "A", "", "a") if record.get("action") != "open"
    ]
    sums = WaySums([{}])
    sums.add(gg.evaluate(records).conversations[0])
    (way,) = sums.ways()
    assert [step.label for step in way.steps] == ["found", "cited"]
