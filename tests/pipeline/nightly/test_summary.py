"""What a person reads at the end of the nightly job."""

from io import StringIO
from types import SimpleNamespace

from msgspec.structs import replace
from rich.console import Console

from goodgain.pipeline.nightly.job import Done
from goodgain.pipeline.nightly.summary import print_done
from tests.pipeline.nightly.report.entries import entry


def test_metrics_have_words_and_cautions_stand_below():
    text = StringIO()
    done = Done([entry("2025-03-02")], [])
    print_done(Console(file=text, width=120), done, SimpleNamespace(output="nights", scored=None))
    said = text.getvalue()
    assert "Gain per result (RAG)" in said
    assert "(DRAG): Stopping early raises it, so read it beside CG." in said
    assert "Iterations for all good results: Finding less finishes sooner" in said


def told(changed, n=40):
    """What is printed of a day whose change of CG is as given, in one line."""
    text = StringIO()
    day = entry("2025-03-02", n=n)
    day = replace(day, changes={"CG": replace(day.changes["CG"], **changed)})
    done = Done((day,), ())
    print_done(Console(file=text, width=120), done, SimpleNamespace(output="nights", scored=None))
    return " ".join(text.getvalue().split())


def test_reasons_and_populations_stand_below():
    assert "Gain (CG): not comparable: labels differ." in told(
        {"verdict": "not comparable", "reason": "labels differ"}
    )
    assert (
        "Gain (CG): conversations that did not search count with gain 0 (population everyone)."
        in told({"population": "everyone"})
    )
    assert (
        "Gain (CG): baseline and difference are over the 25 conversations of the day, and 25 of "
        "the baseline, that can be compared." in told({"n": 25, "n_base": 25})
    )
    assert "(CG): " not in told({})
