"""Scoring of records in other people's pipelines: by default, and records that are dicts."""

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to

from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.score import ScoreConversations


def test_scoring_is_the_default():
    scoring, default = ScoreConversations().scoring, Scoring.default()
    assert scoring.metrics == default.metrics
    assert scoring.good_gain_threshold == default.good_gain_threshold
    assert scoring.rules.unit == default.rules.unit


def test_dicts_and_search_calls_have_the_same_scores():
    """Also mixed: the second call finds again what the first, a dict, has found."""
    copy = SearchCall("c", 2, results=[Result(id="a", title="Kites"), Result(id="b", gain=2)])
    first = {
        "conversation_id": "c",
        "iteration": 1,
        "results": [{"id": "a", "title": "Kites", "gain": 3}],
    }
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        scored = pipeline | beam.Create([first, copy]) | ScoreConversations()
        found = scored.scores | beam.Map(
            lambda score: (score.conversation.CG, score.conversation.UR, score.conversation.R)
        )
        assert_that(found, equal_to([(5, 2, 3)]))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"conversation_id": "c"}, "A record cannot be used: iteration is missing"),
        ("c", "ScoreConversations takes search calls or dicts, not str"),
    ],
)
def test_the_first_record_that_cannot_be_used_ends_the_pipeline(record, message):
    with (
        pytest.raises(Exception, match=message),  # of a type that Beam makes
        beam.Pipeline(runner=FnApiRunner()) as pipeline,
    ):
        _ = pipeline | beam.Create([record]) | ScoreConversations()
