"""What a person reads at the end of a stream."""

from io import StringIO

import pytest
from rich.console import Console

import goodgain as gg
from goodgain.pipeline.streaming.live_counters import LiveCounters
from goodgain.pipeline.streaming.summary import print_means, without_means
from goodgain.pipeline.streaming.totals import StreamTotals
from goodgain.transforms.core.warnings.warning import DataWarning

DAY = 86_400_000


@pytest.fixture(scope="module")
def means():
    calls = [
        {
            "conversation_id": f"c-{at}",
            "iteration": 1,
            "attributes": {"query_id": f"q{at // 2}"},
            "results": [{"id": "a", "gain": 2 + at % 3}],
        }
        for at in range(6)
    ]
    rows = gg.evaluate(calls, cluster="query_id").means.stored()
    window = {"window_start": 20 * DAY, "window_end": 21 * DAY, "is_last": True}
    return [row | window for row in rows]


def told(means, cluster, now=None):
    text = StringIO()
    print_means(Console(file=text, width=100), means, now, cluster)
    return " ".join(text.getvalue().split())


def test_clusters_and_cautions_stand_below_the_means(means):
    said = told(means, "query_id")
    assert "Windows: 1 complete, 0 still open." in said
    assert "Gain per result (RAG): Stopping early raises it, so read it beside CG." in said
    assert "Clusters by query_id: 1970-01-21 00:00: 3." in said


def test_no_clusters_where_none_were_asked_for(means):
    assert "Clusters" not in told(means, None)


def test_before_any_window_has_means_the_warnings_stand_above_those_so_far():
    odd = DataWarning("odd_times", 3, None, "3 records lie in 1970.", "Multiply them by 1,000.")
    now = LiveCounters(9, 9, 0, 5, 0, 0, 0, {"CG": 7.25}, StreamTotals(), [odd])
    said = told([], None, now)
    assert said.startswith(
        "Warning (odd_times): 3 records lie in 1970. Multiply them by 1,000. mean so far CG"
    )
    assert said.endswith(
        "Windows: none has means yet; these are over the conversations closed since this start."
    )


def test_a_start_without_closed_conversations_does_not_speak_of_those_before():
    now = LiveCounters(0, 0, 0, 0, 0, 0, 0, {}, StreamTotals(conversations=40))
    assert "no conversation that counts in them has closed since this start" in told([], None, now)


def test_conversations_that_no_window_has_in_its_means_yet(means):
    """Of two windows, one with undefined gains."""
    later = [
        row | {"window_start": 21 * DAY} | ({"n": 4, "undefined": 2} if row["n"] else {})
        for row in means
    ]
    assert without_means([*means, *later], 15) == 3
    assert without_means([*means, *later], 12) == without_means([], 0) == 0
