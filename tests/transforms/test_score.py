"""Conversations are scored by the defaults if nothing else is said."""

from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.score import ScoreConversations


def test_scoring_is_the_default():
    scoring, default = ScoreConversations().scoring, Scoring.default()
    assert scoring.metrics == default.metrics
    assert scoring.good_gain_threshold == default.good_gain_threshold
    assert scoring.rules.unit == default.rules.unit
