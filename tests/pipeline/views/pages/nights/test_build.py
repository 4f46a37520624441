"""Text and data in the report of all nights, read from its HTML without a browser."""

import pytest
from msgspec.structs import replace

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.views.pages.nights import MOST_DAYS, build_nights_report
from tests.pipeline.views.pages.nights.entries import RANKING, entry, many, week, write_history
from tests.pipeline.views.pages.test_build import LOADING, Page
from tests.pipeline.views.pages.test_escaping import ATTACKS
from tests.pipeline.views.pages.test_size import MOST_BYTES

pytestmark = pytest.mark.slow

MAX_BYTES = 6_000_000


@pytest.fixture(scope="module")
def page():
    return Page(build_nights_report(week()))


def test_command_builds_the_report_from_the_history(tmp_path):
    write_history(tmp_path / "nights", week())
    assert main(["report", str(tmp_path / "nights")]) == 0
    written = (tmp_path / "nights" / "report.html").read_bytes()
    assert written == build_nights_report(week())


def test_each_metric_has_its_mean_and_interval_on_each_day(page):
    days = page.data["days"]
    assert [day["date"] for day in days] == [f"2025-03-0{at}" for at in range(1, 8)]
    assert days[1]["means"]["CG"] == [2.2, 1.7, 2.7, "2.200", "1.700..2.700", "40"]
    assert days[1]["means"][RANKING][:4] == [2.2, 1.7, 2.7, "2.200"]
    assert days[5]["means"] == {}
    assert days[1]["changes"]["SRE"][4] == "better"
    assert RANKING in page.data["metrics"]


def test_verdicts_and_reasons_are_shown(page):
    assert [day["verdict"] for day in page.data["days"]][3:6] == [
        "gate failed",
        "passed",
        "failed",
    ]
    assert "5 passed, 1 failed, 1 gate failed" in page.text
    assert "CG drops" in page.text


def test_a_card_says_once_that_a_change_is_not_comparable():
    day = entry("2025-03-02")
    unlike = replace(day.changes["CG"], verdict="not comparable", reason="labels differ")
    text = Page(build_nights_report([replace(day, changes={"CG": unlike})])).text
    assert "not comparable labels differ" in text
    assert "not comparable: labels differ" not in text


def test_published_days_are_linked_and_the_page_loads_nothing(page):
    links = {attributes["href"] for tag, attributes in page.elements if tag == "a"}
    reports = sorted(link for link in links if not link.startswith("#"))
    assert reports == [f"date=2025-03-0{at}/report.html" for at in (1, 2, 3, 4, 5, 7)]
    assert not any(LOADING & set(attributes) for _, attributes in page.elements)


def test_a_long_history_is_truncated_with_a_note():
    content = build_nights_report(many(MOST_DAYS + 100))
    assert len(content) < MAX_BYTES
    page = Page(content)
    assert len(page.data["days"]) == MOST_DAYS
    assert "100 earlier days are in history.jsonl" in page.text
    assert (
        "1 earlier day is in history.jsonl" in Page(build_nights_report(many(MOST_DAYS + 1))).text
    )


def test_ten_nights_are_a_small_page():
    assert len(build_nights_report(many(10))) < MOST_BYTES


def test_days_without_a_baseline_have_no_figure_of_changes():
    first = [entry("2025-03-01", baseline=())]
    alone = Page(build_nights_report(first))
    assert "None of these days was compared with earlier ones." in alone.text
    assert "Difference from the baseline by day" not in alone.text
    compared = Page(build_nights_report([*first, entry("2025-03-02")]))
    assert "None of these days" not in compared.text
    assert "Difference from the baseline by day" in compared.text


def test_history_without_a_day_gives_a_page():
    assert "No day has run yet" in Page(build_nights_report([])).text


def test_metric_that_only_some_days_have_is_shown():
    first, second = entry("2025-03-01"), entry("2025-03-02")
    del first.means[RANKING]
    page = Page(build_nights_report([first, second]))
    assert RANKING in page.data["metrics"]
    assert RANKING not in page.data["days"][0]["means"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_text_adds_no_element(attack):
    attack = attack.encode("utf-8", "ignore").decode()
    assert _elements(attack) == _elements("harmless")


def _elements(text):
    page = Page(build_nights_report(week(why=text)))
    return [(tag, sorted(attributes)) for tag, attributes in page.elements]
