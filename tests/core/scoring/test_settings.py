"""The settings of scoring, made from plain values."""

import pytest

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.scoring.settings import Scoring


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost": "usd"}, "cost cannot be 'usd'"),
        ({"budget": "tokens=1000"}, "budget cannot be 'tokens=1000'"),
        ({"metrics": "ndcg@10"}, "metrics cannot be 'ndcg@10': give a list"),
        ({"duplicates": "keep"}, "duplicates cannot be 'keep'"),
        ({"max_i": 0}, "max_i is 0: give at least 1"),
        ({"max_i": 1_001}, "max_i is 1001: give at most 1000"),
        ({"good_gain_threshold": 5}, "good_gain_threshold is 5: give at most 4"),
        ({"per_call": "yes"}, "per_call cannot be 'yes'"),
        ({"cost": ["a b"]}, "cost must be names of letters, digits and _, not 'a b'"),
        ({"pass_": ["CG >= 1"], "pass_k": [2, 0]}, "pass_k must be from 1 to 100,000"),
        ({"pass_": ["CG >= 1"], "pass_k": [100_001]}, "pass_k must be from 1 to 100,000"),
        ({"pass_": ["CGG >= 1"]}, r"'CGG >= 1' \(pass_\) is on CGG"),
        ({"unit": "page"}, "unit cannot be 'page'"),
        ({"usage": True, "unit": "passage"}, "usage is about documents, so unit cannot be passage"),
        ({"relevance_threshold": 5}, r"relevance_threshold must be from 1 to 4 \(g_max\), not 5"),
        (
            {"good_gain_threshold": 3, "g_max": 2},
            r"g_max must be at least 3 \(good_gain_threshold\), not 2",
        ),
    ],
)
def test_a_value_that_an_option_cannot_have_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        Scoring.default(**options)


def test_none_is_no_cost_and_no_outcome():
    scoring = Scoring.default(cost=["none"], outcome=["none"])
    assert (scoring.costs, scoring.outcomes) == ((), ())


def test_lists_become_tuples():
    scoring = Scoring.default(["ndcg@10"], cost=["usd"], outcome=["correct"])
    assert (scoring.metrics, scoring.cost, scoring.outcome) == (
        ("ndcg@10",),
        ("usd",),
        ("correct",),
    )


def test_settings_without_rules_name_the_constructor():
    with pytest.raises(UsageError, match=r"make it with Scoring\.default\(\)"):
        Scoring()
    with pytest.raises(UsageError, match=r"make it with Scoring\.default\(\)"):
        Scoring(max_i=2)
