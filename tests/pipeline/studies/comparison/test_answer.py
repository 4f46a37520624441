"""The sentence at the top of a comparison, word for word."""

import msgspec
import pytest

from goodgain.pipeline.studies.comparison.answer import answer
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow

HEADER = (40, 40)  # pairs
BLANK = dict.fromkeys(ComparisonRow.__struct_fields__)


def comparison_row(metric, verdict="not shown", difference=0.0, low=None, high=None, **more):
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
        "p_value": 1.0,
        "design": "paired",
        "n_base": 40,
        "n_candidate": 40,
        "verdict": verdict,
        "verdict_ci_low": low,
        "verdict_ci_high": high,
        "verdict_confidence": None if low is None else 0.95,
    }
    values |= more
    if difference is not None and values["base_mean"]:
        values["relative_difference"] = difference / values["base_mean"]
    return ComparisonRow(**values)


def cg_row(verdict, difference, low, high, **more):
    return comparison_row("CG", verdict, difference, low, high, family="primary", **more)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [
                cg_row(
                    "not shown",
                    0.0,
                    None,
                    None,
                    stderr=None,
                    note="no pair differs, so there is no",
                )
            ],
            "No pair differs in good, new material (n = 40).",
        ),
        (
            [
                cg_row("better", 2.6, 1.2, 4.0),
                comparison_row("SRR", stderr=None),
                comparison_row("recall@10", "not comparable", reason="own ideal"),
            ],
            "The candidate finds 26.0 % more good, new material per conversation: Gain (CG) +2.600 "
            "(95 %: +1.200 to +4.000); no value differs in repetition (n = 40); not comparable: "
            "Recall (recall@10).",
        ),
        (
            [
                cg_row("worse", -2.6, -4.0, -1.2),
                comparison_row("SRR", "worse", 0.1),
                comparison_row("DCG", "worse", -1.0),
            ],
            "The candidate finds 26.0 % less good, new material per conversation: Gain (CG) -2.600 "
            "(95 %: -4.000 to -1.200); it repeats more; worse: Discounted gain (DCG).",
        ),
        (
            [cg_row("not shown", 0.3, -0.2, 0.8), comparison_row("SRR", "better", -0.1)],
            "The data do not show whether the candidate finds more good, new material: "
            "Gain (CG) +0.300 (95 %: -0.200 to +0.800); it repeats less.",
        ),
        (
            [
                cg_row("not comparable", 5.0, None, None, reason="labels differ"),
                comparison_row("SRR", "not shown"),
            ],
            "The arms cannot be compared by Gain (CG): labels differ; "
            "no change of repetition is shown.",
        ),
        (
            [cg_row("not tested", None, None, None, note="there are no pairs")],
            "Nothing can be said about Gain (CG): there are no pairs.",
        ),
        (
            [cg_row("better", 2.0, 1.0, 3.0, base_mean=0.0)],
            "The candidate finds more good, new material per conversation: Gain (CG) +2.000 "
            "(95 %: +1.000 to +3.000).",
        ),
        (
            [cg_row("worse", -5.0, -6.0, -4.0, population="everyone")],
            "The candidate finds 50.0 % less good, new material per conversation: Gain (CG) -5.000 "
            "(95 %: -6.000 to -4.000), over 40 pairs, in which conversations that did not search "
            "count with 0.",
        ),
        (
            [
                cg_row("not shown", 0.0, None, None, stderr=None, population="everyone"),
                comparison_row("SRR", "not tested", stderr=None, n_base=1, n_candidate=1),
            ],
            "No value differs in good, new material, over 40 pairs, in which conversations that "
            "did not search count with 0; nothing can be said about repetition.",
        ),
        (
            [
                cg_row("not shown", 0.3, -0.2, 0.8, n_base=35, n_candidate=35),
                comparison_row("SRR", stderr=None, n_base=2, n_candidate=2),
            ],
            "The data do not show whether the candidate finds more good, new material: "
            "Gain (CG) +0.300 (95 %: -0.200 to +0.800), over the 35 pairs with a value; no value "
            "differs in repetition "
            "(n = 2).",
        ),
        (
            [
                cg_row("better", 2.6, 1.2, 4.0, design="unpaired", n_base=30),
                comparison_row("SRR", stderr=None, design="unpaired", n_base=30),
            ],
            "The candidate finds 26.0 % more good, new material per conversation: Gain (CG) +2.600 "
            "(95 %: +1.200 to +4.000), over the 30 and 40 conversations with a value; no value "
            "differs in repetition "
            "(n = 30 and 40).",
        ),
        (
            [cg_row("worse", -9.59, -10.3, -8.84)],
            "The candidate finds 95.9 % less good, new material per conversation: Gain (CG) "
            "-9.590 (95 %: -10.30 to -8.840).",
        ),
        (
            [
                cg_row("better", 2.0, 1.0, 3.0),
                cg_row("worse", -2.0, -3.0, -1.0, slice={"market": "de"}),
                cg_row("better", 3.0, 2.0, 4.0, slice={"market": ""}),
            ],
            "The candidate finds 20.0 % more good, new material per conversation: Gain (CG) +2.000 "
            "(95 %: +1.000 to +3.000). Gain (CG) is worse in 1 of 2 slices: market = de.",
        ),
        (
            [
                cg_row("better", 2.0, 1.0, 3.0),
                comparison_row("recall@10", "better", 0.1, family="further"),
                comparison_row("CG_at_i", "better", 1.0, i=1),
                comparison_row("R", "changed", 5.0),
            ],
            "The candidate finds 20.0 % more good, new material per conversation: Gain (CG) +2.000 "
            "(95 %: +1.000 to +3.000); changed: Results (R).",
        ),
        (
            [
                cg_row("not comparable", 5.0, None, None, reason="labels differ"),
                comparison_row("SRR", "not comparable", reason="labels differ"),
                comparison_row("DCG", "not comparable", reason="labels differ"),
            ],
            "The arms cannot be compared by Gain (CG): labels differ; "
            "not comparable: Repeated results (SRR), Discounted gain (DCG).",
        ),
        (
            [cg_row("not shown", 0.0, -1.0, 1.0, population="everyone")],
            "The data do not show whether the candidate finds more good, new material: "
            "Gain (CG) 0 (95 %: -1.000 to +1.000), over 40 pairs, in which conversations that did "
            "not search count "
            "with 0.",
        ),
        (
            [
                cg_row("worse", -2.0, -3.0, -1.0),
                cg_row("worse", -2.0, -3.0, -1.0, slice={"market": "de"}),
                comparison_row("DCG", "not shown", slice={"market": "de"}),
            ],
            "The candidate finds 20.0 % less good, new material per conversation: Gain (CG) -2.000 "
            "(95 %: -3.000 to -1.000).",
        ),
        (
            [
                cg_row("not shown", 2.0, -1.0, 5.0, verdict_confidence=0.99),
                comparison_row("DCG", "worse", slice={"market": "fr"}),
                *(cg_row("worse", -2.0, -3.0, -1.0, slice={"user": name}) for name in "abcd"),
            ],
            "The data do not show whether the candidate finds more good, new material: "
            "Gain (CG) +2.000 (99 %: -1.000 to +5.000). Gain (CG) is worse in 4 of 4 slices: user "
            "= a; user = b; "
            "user = c; and 1 more.",
        ),
    ],
)
def test_sentence(rows, sentence):
    assert answer(rows, "CG", HEADER) == sentence


@pytest.mark.parametrize(
    ("gain", "clause"),
    [
        ("better", "better: Cost (cost.tokens)"),
        ("not shown", "lower, which is no gain if less is found: Cost (cost.tokens)"),
        ("not comparable", "lower, which is no gain if less is found: Cost (cost.tokens)"),
        ("worse", "lower, which is no gain if less is found: Cost (cost.tokens)"),
    ],
)
def test_a_lower_cost_is_better_only_with_more_gain(gain, clause):
    rows = [
        cg_row(gain, -1.0 if gain == "worse" else 1.0, -2.0, 2.0),
        comparison_row("cost.tokens", "better", -100.0),
    ]
    assert clause in answer(rows, "CG", HEADER)


def test_a_lower_cost_alone_is_not_called_better():
    row = comparison_row("cost.tokens", "better", -100.0, -150.0, -50.0, family="primary")
    sentence = answer([row], "cost.tokens", HEADER)
    assert sentence.startswith("The candidate costs less, which is no gain if less is found: Cost")
    assert "better" not in sentence


@pytest.mark.parametrize(
    ("verdict", "population", "sentence"),
    [
        (
            "better",
            "all",
            "The candidate is better by Mean reciprocal rank (mrr): +0.100 (95 %: +0.050 to "
            "+0.150).",
        ),
        (
            "better",
            "everyone",
            "The candidate is better by Mean reciprocal rank (mrr): +0.100 (95 %: +0.050 to "
            "+0.150), "
            "over 40 pairs, in which conversations that did not search count with 0.",
        ),
        (
            "not shown",
            "all",
            "The data do not show whether Mean reciprocal rank (mrr) changed: +0.100 "
            "(95 %: +0.050 to +0.150).",
        ),
    ],
)
def test_other_primary_metrics_are_named(verdict, population, sentence):
    row = comparison_row("mrr", verdict, 0.1, 0.05, 0.15, family="primary", base_mean=0.5)
    assert answer([msgspec.structs.replace(row, population=population)], "mrr", HEADER) == sentence


def test_the_size_of_a_change_is_in_the_unit_of_the_metric_as_in_the_table():
    """A change of a share in percent of the base would be mistaken for percentage points."""
    for metric, size in (
        ("SRR", "+10.0 pp (95 %: +5.00 to +15.0)."),
        ("mrr", "+0.100 (95 %: +0.050 to +0.150)."),
    ):
        rows = [comparison_row(metric, "worse", 0.1, 0.05, 0.15, family="primary", base_mean=0.5)]
        assert answer(rows, metric, HEADER).endswith(size)


def test_an_answer_about_metrics_at_an_iteration_does_not_deny_that_they_have_values():
    rows = [comparison_row("CG_at_i", "better", 1.0, i=2), comparison_row("R", family="further")]
    assert answer(rows, None, HEADER) == (
        "The decision rests only on metrics at an iteration, so there is no verdict at N."
    )


def test_metrics_without_a_change_are_not_said_to_have_no_value():
    assert answer([comparison_row("N")], None, HEADER) == (
        "No change is shown in any metric that the decision rests on."
    )


@pytest.mark.parametrize(
    ("metric", "shown"), [("SRR", (-1.0, 1.0)), ("precision@5", (-1.0, 1.0)), ("CG", (-2.5, 2.5))]
)
def test_intervals_of_differences_are_clipped_to_the_range_of_the_metric(metric, shown):
    assert comparison_row(metric, low=-2.5, high=2.5).shown_interval == shown
    assert comparison_row(metric, ci_low=-2.5, ci_high=2.5).shown_interval == shown
