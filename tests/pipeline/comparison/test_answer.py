"""The sentence on top of a comparison, word by word."""

import msgspec
import pytest

from goodgain.pipeline.comparison.answer import answer
from goodgain.pipeline.comparison.rows import ComparisonRow

BLANK = dict.fromkeys(ComparisonRow.__struct_fields__)


def made(metric, verdict="not shown", difference=0.0, low=None, high=None, **more):
    values = {
        **BLANK,
        "slice": {},
        "metric": metric,
        "population": "all",
        "family": "declared",
        "confidence": 0.95,
        "base_mean": 10.0,
        "difference": difference,
        "stderr": 1.0,
        "verdict": verdict,
        "verdict_ci_low": low,
        "verdict_ci_high": high,
        "verdict_confidence": None if low is None else 0.95,
    }
    return ComparisonRow(**(values | more))


def cg(verdict, difference, low, high, **more):
    return made("CG", verdict, difference, low, high, family="primary", **more)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [cg("not shown", 0.0, None, None, stderr=None, note="no pair differs, so there is no")],
            "Good, new material is unchanged: no pair differs.",
        ),
        (
            [
                cg("better", 2.6, 1.2, 4.0),
                made("SRR", stderr=None),
                made("recall@10", "not comparable", reason="own ideal"),
            ],
            "The candidate finds 26 % more good, new material per conversation (95 %: 12 to 40); "
            "repetition is unchanged; not comparable: recall@10.",
        ),
        (
            [cg("worse", -2.6, -4.0, -1.2), made("SRR", "worse", 0.1), made("DCG", "worse", -1.0)],
            "The candidate finds 26 % less good, new material per conversation (95 %: 12 to 40); "
            "it repeats more; worse: Discounted gain (DCG).",
        ),
        (
            [cg("not shown", 0.3, -0.2, 0.8), made("SRR", "better", -0.1)],
            "The data do not show whether the candidate finds more good, new material: +3 % "
            "(95 %: -2 to +8); it repeats less.",
        ),
        (
            [
                cg("not comparable", 5.0, None, None, reason="labels differ"),
                made("SRR", "not shown"),
            ],
            "The arms cannot be compared by Gain (CG): labels differ; "
            "no change of repetition is shown.",
        ),
        (
            [cg("not tested", None, None, None, note="there are no pairs")],
            "Nothing can be said about Gain (CG): there are no pairs.",
        ),
        (
            [cg("better", 2.0, 1.0, 3.0, base_mean=0.0)],
            "The candidate finds 2 gain more good, new material per conversation (95 %: 1 to 3).",
        ),
        (
            [cg("worse", -5.0, -6.0, -4.0, population="everyone")],
            "The candidate finds 50 % less good, new material per conversation (95 %: 40 to 60), "
            "conversations that did not search counted with 0.",
        ),
        (
            [cg("worse", -9.59, -10.3, -8.84)],  # no arm finds less than nothing
            "The candidate finds 95.9 % less good, new material per conversation "
            "(95 %: 88.4 to 100).",
        ),
        (
            [cg("not shown", -4.0, -11.0, 3.0)],
            "The data do not show whether the candidate finds more good, new material: -40 % "
            "(95 %: -100 to +30).",
        ),
        (
            [
                cg("better", 2.0, 1.0, 3.0),
                cg("worse", -2.0, -3.0, -1.0, slice={"market": "de"}),
                cg("better", 3.0, 2.0, 4.0, slice={"market": ""}),
            ],
            "The candidate finds 20 % more good, new material per conversation (95 %: 10 to 30). "
            "Gain (CG) is worse in 1 of 2 slices: market = de.",
        ),
        (
            [
                cg("better", 2.0, 1.0, 3.0),
                made("recall@10", "better", 0.1, family="further"),
                made("CG_at_i", "better", 1.0, i=1),
                made("R", "changed", 5.0),
            ],
            "The candidate finds 20 % more good, new material per conversation (95 %: 10 to 30); "
            "changed: Results (R).",
        ),
        (
            [
                cg("not comparable", 5.0, None, None, reason="labels differ"),
                made("SRR", "not comparable", reason="labels differ"),
                made("DCG", "not comparable", reason="labels differ"),
            ],
            "The arms cannot be compared by Gain (CG): labels differ; "
            "not comparable: Repeated results (SRR), Discounted gain (DCG).",
        ),
        (
            [cg("not shown", 0.0, -1.0, 1.0, population="everyone")],
            "The data do not show whether the candidate finds more good, new material: +0 % "
            "(95 %: -10 to +10), conversations that did not search counted with 0.",
        ),
        (
            [
                cg("worse", -2.0, -3.0, -1.0),
                cg("worse", -2.0, -3.0, -1.0, slice={"market": "de"}),
                made("DCG", "not shown", slice={"market": "de"}),
            ],
            "The candidate finds 20 % less good, new material per conversation (95 %: 10 to 30).",
        ),
        (
            [
                cg("not shown", 2.0, -1.0, 5.0, verdict_confidence=0.99),
                made("DCG", "worse", slice={"market": "fr"}),
                *(cg("worse", -2.0, -3.0, -1.0, slice={"user": name}) for name in "abcd"),
            ],
            "The data do not show whether the candidate finds more good, new material: +20 % "
            "(99 %: -10 to +50). Gain (CG) is worse in 4 of 4 slices: user = a; user = b; "
            "user = c; and 1 more.",
        ),
    ],
)
def test_sentence(rows, said):
    assert answer(rows, "CG") == said


@pytest.mark.parametrize(
    ("verdict", "population", "said"),
    [
        ("better", "all", "The candidate is better by mrr: +20 % (95 %: +10 to +30)."),
        (
            "better",
            "everyone",
            "The candidate is better by mrr: +20 % (95 %: +10 to +30), conversations that did not "
            "search counted with 0.",
        ),
        (
            "not shown",
            "all",
            "The data do not show whether mrr changed: +20 % (95 %: +10 to +30).",
        ),
    ],
)
def test_other_metrics_are_called_by_their_name(verdict, population, said):
    row = made("mrr", verdict, 0.1, 0.05, 0.15, family="primary", base_mean=0.5)
    assert answer([msgspec.structs.replace(row, population=population)], "mrr") == said


def test_where_the_base_is_0_the_difference_is_in_the_unit_of_the_metric():
    for metric, size in (("SRR", "+10 points (95 %: +5 to +15)"), ("mrr", "+0.1 (95 %: +0.05 to")):
        rows = [made(metric, "changed", 0.1, 0.05, 0.15, family="primary", base_mean=0.0)]
        assert size in answer(rows, metric)


def test_without_anything_at_n():
    assert answer([], None) == "No metric that the decision rests on has a value at N."


@pytest.mark.parametrize(
    ("metric", "shown"), [("SRR", (-1.0, 1.0)), ("precision@5", (-1.0, 1.0)), ("CG", (-2.5, 2.5))]
)
def test_intervals_of_differences_end_where_the_metric_does(metric, shown):
    assert made(metric, low=-2.5, high=2.5).shown_interval == shown
    assert made(metric, ci_low=-2.5, ci_high=2.5).shown_interval == shown
