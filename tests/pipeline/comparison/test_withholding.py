"""What decides whether a verdict is withheld: shares of two arms, and the worst value of a null."""

import pytest

from goodgain.pipeline.comparison.withholding import differ, worst_value


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (0.3, 0.35, False),
        (1.0, 0.95, False),
        (0.3, 0.351, True),
        (0.9, 0.8, True),
        (0.0, 0.0, False),
    ],
)
def test_shares_differ_beyond_five_points(one, other, apart):
    assert differ(one, other) == apart
    assert differ(other, one) == apart


@pytest.mark.parametrize(
    ("metric", "worst"),
    [
        ("CG", 0.0),
        ("ndcg@10", 0.0),
        ("SRR", 1.0),
        ("iterations_for_all_good_results", 6.0),
        ("judged@10", None),
        ("cost.tokens", None),
    ],
)
def test_a_null_stands_for_the_worst_value_of_its_metric(metric, worst):
    assert worst_value(metric, max_i=5) == worst
