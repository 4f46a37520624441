"""Means by window: which panes come when, and that each holds the whole window (SPEC 7)."""

import apache_beam as beam
import pytest
from apache_beam.testing import test_stream
from apache_beam.transforms.window import TimestampedValue

from tests.core.direct import score_one, scoring
from tests.transforms.streams import at, collected, minute_of, stamp
from transforms.core.closing import Closing
from transforms.core.score import ConversationScore
from transforms.windowed_means import WindowedMeans

MINUTE = 60_000
HOUR = 60
CLOSING = Closing(gap=10 * MINUTE, allowed_lateness=20 * MINUTE)


def a_score(gain, **fields):
    return score_one([{"results": [{"id": "a", "gain": gain}], **fields}])


class Scores:
    """Scores that arrive with their times while the watermark moves."""

    def __init__(self):
        self.stream = test_stream.TestStream(
            coder=beam.coders.registry.get_coder(ConversationScore)
        )

    def arrive(self, minute, score):
        self.stream.add_elements([TimestampedValue(score, stamp(at(minute)))])
        return self

    def watermark(self, *minutes):
        for minute in minutes:
            self.stream.advance_watermark_to(stamp(at(minute)))
        return self

    def means(self, slices=()):
        with collected() as (pipeline, keep, given):
            means = (
                pipeline
                | self.stream.advance_watermark_to_infinity()
                | beam.Map(lambda score: score).with_output_types(ConversationScore)
                | WindowedMeans(scoring(), CLOSING, slices, window=HOUR * MINUTE)
            )
            keep("rows", means.rows)
            keep("missed", means.missed)
        return given


def gains(given, slice_=None):
    """(start of window, pane, is_last, n, mean) of CG, in the order given."""
    return [
        (minute_of(row.window_start), row.pane, row.is_last, row.row.n, row.row.mean)
        for _, row in given["rows"]
        if row.row.metric == "CG" and row.row.slice == (slice_ or {})
    ]


@pytest.fixture(scope="module")
def start():
    """The minute at which the window begins that holds minute 0."""
    return minute_of(at(0) - at(0) % (HOUR * MINUTE))


def test_on_time_then_updates_then_the_last_pane(start):
    scores = Scores().arrive(start + 1, a_score(3)).arrive(start + 59, a_score(4))
    scores.watermark(start + 69).watermark(start + 70).arrive(start + 2, a_score(2))
    scores.watermark(start + 71, start + 89).watermark(start + 90, start + 91)
    assert gains(scores.means()) == [
        (start, 0, False, 2, 3.5),
        (start, 1, False, 3, 3),
        (start, 2, True, 3, 3),
    ]
