"""The sentence at the top of the report over all days."""

import datetime

import msgspec
import pytest

from goodgain.pipeline.studies.nightly.days.entry import entry_of_failure
from goodgain.pipeline.views.pages.nights import answer, build_nights_report
from tests.pipeline.views.pages.nights.entries import entry
from tests.pipeline.views.pages.test_build import Page


def day_of_changes(verdicts, **more):
    """A day whose changes have these verdicts by metric, and the others `not shown`."""
    day = entry("2025-03-12", 0.154, baseline=("2025-03-11",), **more)
    changes = {
        name: msgspec.structs.replace(change, verdict=verdicts.get(name, "not shown"))
        for name, change in day.changes.items()
    }
    return msgspec.structs.replace(day, changes=changes)


def test_quiet_day():
    assert answer(day_of_changes({})) == (
        "2025-03-12 passed: 15.4 % of the results were good and new; "
        "no change from 2025-03-11 is shown."
    )


def test_changes_are_named_the_worse_first():
    day = day_of_changes({"CG": "better", "SRE": "better", "SRR": "worse"}, verdict="gate failed")
    assert answer(day) == (
        "2025-03-12 failed its gate: 15.4 % of the results were good and new; worse than "
        "2025-03-11 in Repeated results (SRR); better than 2025-03-11 in Gain (CG), Good and new "
        "results (SRE)."
    )


def test_day_whose_changes_cannot_be_compared():
    names = entry("2025-03-12").changes
    assert answer(day_of_changes(dict.fromkeys(names, "not comparable"))).endswith(
        "; no change from 2025-03-11 could be tested."
    )


def test_day_without_a_baseline_or_labels():
    day = entry("2025-03-01", 0.25, "bad data", baseline=())
    means = {**day.means, "SRE": msgspec.structs.replace(day.means["SRE"], mean=None)}
    assert answer(msgspec.structs.replace(day, means=means)) == (
        "2025-03-01 had bad data: 25.0 % of the results repeated earlier ones; "
        "it was compared with no earlier day."
    )


def test_day_without_results_and_no_day():
    failed = entry_of_failure(
        datetime.date(2025, 3, 6), "No input.", "2025-03-07T02:30:00+00:00", 0.1
    )
    assert answer(failed) == "2025-03-06 failed: it has no results."
    assert answer(None) == "No day has run yet."


@pytest.mark.slow
def test_report_begins_with_it():
    text = Page(build_nights_report([day_of_changes({})])).text
    assert text.index("2025-03-12 passed: 15.4 %") < text.index("Latest day")
