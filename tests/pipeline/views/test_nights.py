"""The text that the nightly job prints at its end."""

from types import SimpleNamespace

from msgspec.structs import replace

from goodgain.pipeline.document.terminal import text_of
from goodgain.pipeline.studies.nightly.job import NightlyResult
from goodgain.pipeline.views.history import history_markdown
from goodgain.pipeline.views.nights import nights_document
from tests.pipeline.views.pages.nights.entries import entry


def test_metrics_have_readable_names_and_cautions():
    result = NightlyResult((entry("2025-03-02", 0.75),), ())
    summary = text_of(nights_document(result, SimpleNamespace(output="nights")))
    assert "Gain per result (RAG)" in summary
    lines = [" ".join(line.split()) for line in summary.splitlines()]
    assert "Good and new results (SRE) 75.0 % 40 25.0 % +50.0 pp +10.0..+90.0 better" in lines
    assert "(DRAG): Stopping early raises it, so read it beside CG." in summary
    assert "Iterations for all good results: Finding less finishes sooner" in summary


def test_the_history_has_words_and_percentages():
    table = history_markdown([entry("2025-03-02", 0.75)], ())
    (headings, day) = (line.split(" | ") for line in table.splitlines()[2::2])
    cells = dict(zip(headings, day, strict=True))
    assert cells["Good and new results (SRE)"] == "75.0 % (25.0..100 %)"
    assert cells["Gain (CG)"] == "0.750 (0.250..1.250)"
    assert "Iterations for all good results" in cells


def summary_of(changed, n=40):
    """The printed text of a day with this change of CG, on one line."""
    day = entry("2025-03-02", n=n)
    day = replace(day, changes={"CG": replace(day.changes["CG"], **changed)})
    result = NightlyResult((day,), ())
    text = text_of(nights_document(result, SimpleNamespace(output="nights")))
    return " ".join(text.split())


def test_reasons_populations_and_partial_comparisons_are_explained():
    assert "Gain (CG): not comparable: labels differ." in summary_of(
        {"verdict": "not comparable", "reason": "labels differ"}
    )
    assert (
        "Gain (CG): conversations that did not search count with gain 0 (population everyone)."
        in summary_of({"population": "everyone"})
    )
    assert (
        "Gain (CG): baseline and difference are over the 25 conversations of the day, and 25 of "
        "the baseline, that can be compared." in summary_of({"n": 25, "n_base": 25})
    )
    assert "(CG): " not in summary_of({})
    corrected = "Gain (CG): not shown once the verdict is corrected for the number of metrics."
    assert corrected in summary_of({"verdict": "not shown"})
    assert corrected not in summary_of({"verdict": "not shown", "ci_low": -0.1})


def test_mean_baseline_and_difference_subtract_in_each_row():
    """The day's mean is 2 over 40 conversations; over the 25 that are compared it is 1.9."""
    text = summary_of({"n": 25, "n_base": 25, "base": 1.4})
    compared = "of those compared 1.900 25 1.400 +0.500 +0.100..+0.900 better"
    assert f"Gain (CG) 2.000 40 {compared}" in text
    assert "of those compared" not in summary_of({})
