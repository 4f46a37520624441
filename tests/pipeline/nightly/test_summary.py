"""What a person reads at the end of the nightly job."""

from io import StringIO
from types import SimpleNamespace

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
