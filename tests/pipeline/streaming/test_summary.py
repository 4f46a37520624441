"""What a person reads at the end of a stream."""

from io import StringIO

import pytest
from rich.console import Console

import goodgain as gg
from goodgain.pipeline.streaming.summary import print_means

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


def told(means, cluster):
    text = StringIO()
    print_means(Console(file=text, width=100), means, None, cluster)
    return " ".join(text.getvalue().split())


def test_clusters_and_cautions_stand_below_the_means(means):
    said = told(means, "query_id")
    assert "Windows: 1 complete, 0 still open." in said
    assert "Gain per result (RAG): Stopping early raises it, so read it beside CG." in said
    assert "Clusters by query_id: 1970-01-21 00:00: 3." in said


def test_no_clusters_where_none_were_asked_for(means):
    assert "Clusters" not in told(means, None)
