"""Conditions that withhold a verdict: different shares of the arms, and worst cases of nulls."""

import numpy as np
import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.studies.comparison.matching import Sample
from goodgain.pipeline.studies.comparison.measures import Measure
from goodgain.pipeline.studies.comparison.verdict_conditions import VerdictConditions, differ
from goodgain.pipeline.studies.comparison.withholding import reason_to_withhold
from goodgain.pipeline.studies.comparison.worst_case import (
    WorstCase,
    assume_worst_case,
    worst_value,
)
from tests.pipeline.studies.comparison.command import compare
from tests.pipeline.studies.comparison.command import row as row_of
from tests.pipeline.studies.comparison.traces import conversation, output_of

pytestmark = pytest.mark.slow

SAME_SHARES = VerdictConditions(
    (1.0, 1.0), (0.5, 0.5), (0.0, 0.0), shared_judgments=False, shared_aspects=False, max_i=5
)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (0.3, 0.35, False),
        (1.0, 0.95, False),
        (0.3, 0.351, True),
        (0.9, 0.8, True),
        (0.0, 0.0, False),
    ],
)
def test_shares_differ_beyond_five_percentage_points(one, other, expected):
    assert differ(one, other) == expected
    assert differ(other, one) == expected


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
def test_the_worst_case_of_a_null_is_the_worst_value_of_its_metric(metric, worst):
    assert worst_value(metric, max_i=5) == worst


@pytest.mark.parametrize(
    ("base", "worst"),
    [([3.0, -2.0], None), ([3.0, 2.0], WorstCase(base_mean=2.5, candidate_mean=0.5))],
)
def test_the_worst_case_of_an_outcome_is_unknown_if_it_is_below_0(base, worst):
    nulls = np.array(base), np.array([1.0, np.nan])
    values = Sample(
        nulls[0], nulls[1][:1], nulls, np.array([], dtype=np.intp), False, 0, 0, 0, 1, 0
    )
    assert assume_worst_case("outcome.score", values, max_i=5) == worst


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("candidate", "worst"),
    [(-1.0, None), (1.0, WorstCase(base_mean=0.0, candidate_mean=1.0))],
)
def test_the_worst_case_of_an_outcome_that_one_arm_lacks_everywhere(candidate, worst):
    nulls = np.array([np.nan]), np.array([candidate])
    none = np.array([])
    values = Sample(none, none, nulls, np.array([], dtype=np.intp), True, 0, 0, 1, 0, 0)
    assert assume_worst_case("outcome.score", values, max_i=5) == worst


@pytest.mark.parametrize(
    ("worst", "reason"),
    [
        (WorstCase(base_mean=4.0, candidate_mean=2.0), None),
        (
            WorstCase(base_mean=2.0, candidate_mean=4.0),
            "reached in 50.0 % of the base, 90.0 % of the candidate, and the others have no value",
        ),
    ],
)
def test_a_verdict_is_withheld_if_the_worst_case_points_the_other_way(worst, reason):
    """Pairs that are null in only one arm count there with the worst value."""
    sample = Sample(
        base=np.full(8, 3.0),
        candidate=np.full(8, 2.0),
        with_nulls=(
            np.array([*[3.0] * 8, *[np.nan] * 10, 3.0, 3.0]),
            np.array([*[2.0] * 18, np.nan, np.nan]),
        ),
        shared=np.arange(8),
        paired=True,
        only_in_base=0,
        only_in_candidate=0,
        undefined_in_base=10,
        undefined_in_candidate=2,
        undefined_in_both=0,
    )
    measure = Measure("iterations_for_all_good_results", None, "all")
    assert reason_to_withhold(measure, sample, worst, SAME_SHARES) == reason


def test_labelled_shares_exclude_conversations_of_only_one_arm(tmp_path, capsys):
    """A third of the base's results have no label, but all results of compared conversations do."""
    pairs = [conversation(f"c{at:02}", [[at % 5, 3]]) for at in range(20)]
    alone = [conversation("d", [[None] * 20])]
    base = output_of(tmp_path / "base", [*pairs, *alone], allow_unlabelled=True)
    candidate = output_of(tmp_path / "candidate", pairs)
    rows = compare(capsys, base, candidate, "--metrics", "CG")["rows"]
    assert {row["reason"] for row in rows} == {None}
    unpaired = compare(capsys, base, candidate, "--metrics", "CG", "--unpaired")["rows"]
    assert "66.7 % of the results of the base have a label, 100.0 % of the candidate's" in {
        row["reason"] for row in unpaired
    }


def drop_labels(conversations, lost):
    """The same retrieval, but good results lack their label where `lost` says so."""
    numbers = iter(range(10**6))
    return [
        [
            {
                **record,
                "results": [
                    {**result, "gain": None}
                    if (result["gain"] or 0) >= 2 and lost(next(numbers))
                    else result
                    for result in record["results"]
                ],
            }
            for record in records
        ]
        for records in conversations
    ]


@pytest.mark.parametrize("every", [5, 25])
def test_missing_labels_of_good_results_make_no_verdict(every, tmp_path, capsys):
    """Identical retrieval, one good result of five; the candidate lacks some of their labels.

    With every fifth, 4 % of all labels are missing, below the limit of five points.
    """
    base = [conversation(f"c{at:03}", [[3 + at % 2, 0, 0, 1, 0]] * 2) for at in range(100)]
    candidate = drop_labels(base, lambda number: number % every == 0)
    folders = [output_of(tmp_path / name, arm) for name, arm in (("a", base), ("b", candidate))]
    found = compare(capsys, *folders)
    row = row_of(found, "CG", population=None)
    assert row["difference"] < 0
    assert row["verdict"] == "not comparable"
    assert "were these results good, the difference would vanish" in row["reason"]
    assert "worse" not in found["answer"]
    assert row_of(found, "SRR", population=None)["reason"] is None  # needs no labels


def test_a_loss_beyond_what_missing_labels_can_explain_is_worse(tmp_path, capsys):
    base = [conversation(f"c{at:03}", [[3 + at % 2, 3, 0, 1, 0]] * 2) for at in range(60)]
    candidate = [conversation(f"c{at:03}", [[3 + at % 2, 0, 0, 0, 0]] * 2) for at in range(60)]
    candidate[0][0]["results"][4]["gain"] = None
    folders = [output_of(tmp_path / name, arm) for name, arm in (("a", base), ("b", candidate))]
    row = row_of(compare(capsys, *folders), "CG", population=None)
    assert (row["verdict"], row["reason"]) == ("worse", None)


def skips_the_best(of_the_rest=0):
    """A hundred conversations, and the same without search in the five that hold 40 % of the gain.

    Args:
      of_the_rest: gain added in every second of the others.
    """
    base = [
        conversation(f"c{at:02}", [[4] * 16 if at < 5 else [3, 2, at % 2]]) for at in range(100)
    ]
    candidate = [
        conversation(f"c{at:02}", [[0]], turn_count=2)
        if at < 5
        else conversation(f"c{at:02}", [[3, 2, at % 2, of_the_rest if at % 2 else 0]])
        for at in range(100)
    ]
    return base, candidate


@pytest.mark.parametrize("of_the_rest", [0, 2])
def test_missing_searches_decide_a_verdict(of_the_rest, tmp_path, capsys):
    """5 % of the candidate's conversations did not search, which is not beyond the limit."""
    arms = zip(("base", "candidate"), skips_the_best(of_the_rest), strict=True)
    folders = [output_of(tmp_path / name, arm) for name, arm in arms]
    row = row_of(compare(capsys, *folders, "--metrics", "CG"), "CG", population=None)
    assert row["population"] == "everyone"
    assert row["difference"] < 0
    assert row["verdict"] != "better"
    assert row["n_base"] == 100


def test_a_verdict_of_the_same_sign_over_everyone_stands(tmp_path, capsys):
    base = [conversation(f"c{at:02}", [[3, at % 2]]) for at in range(60)]
    candidate = [
        conversation(f"c{at:02}", [[3, at % 2, 3 + at % 2]], turn_count=None if at else 2)
        for at in range(60)
    ]
    folders = [output_of(tmp_path / name, arm) for name, arm in (("a", base), ("b", candidate))]
    row = row_of(compare(capsys, *folders, "--metrics", "CG"), "CG", population=None)
    assert (row["population"], row["verdict"], row["n_base"]) == ("all", "better", 59)


def compare_with_missing(tmp_path, capsys, *words, there=12):
    """Compare a run of forty conversations with one that has only the first `there`."""
    many = [conversation(f"c{at:02}", [[3, 0]], query_id=f"q{at}") for at in range(40)]
    few = [conversation(f"c{at:02}", [[3, 3]], query_id=f"q{at}") for at in range(there)]
    return compare(
        capsys, output_of(tmp_path / "base", many), output_of(tmp_path / "few", few), *words
    )


def test_verdicts_are_withheld_if_one_run_lacks_many_conversations(tmp_path, capsys):
    found = compare_with_missing(tmp_path, capsys)
    message = "28 of the base's 40 conversations are not in the candidate"
    assert {row["reason"] for row in found["rows"]} == {message}
    assert message in found["answer"]


def test_the_number_of_conversations_that_one_run_lacks_is_of_those_that_searched(tmp_path, capsys):
    """Six of forty do not search; the other run has the first ten only."""
    many = [conversation(f"c{at:02}", [[3]], turn_count=2 if at > 33 else None) for at in range(40)]
    base, few = output_of(tmp_path / "base", many), output_of(tmp_path / "few", many[:10])
    found = compare(capsys, base, few)
    message = "24 of the base's 34 conversations that searched are not in the candidate"
    assert {row["reason"] for row in found["rows"]} == {message}
    assert message in found["answer"]


def test_the_answer_says_over_how_many_pairs_it_is_if_conversations_did_not_search(
    tmp_path, capsys
):
    def arm(idle):
        return [
            conversation(f"c{at:02}", [[at % 5]], turn_count=2 if at < idle else None)
            for at in range(40)
        ]

    base, run = output_of(tmp_path / "base", arm(0)), output_of(tmp_path / "run", arm(30))
    found = compare(capsys, base, run, "--output", str(tmp_path / "out"))
    sentence = "over 40 pairs, in which conversations that did not search count with 0"
    assert sentence in found["answer"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert sentence in page
    assert "10 pairs by conversation_id in which both arms searched were compared" in page


def test_verdicts_are_given_if_few_conversations_are_missing(tmp_path, capsys):
    found = compare_with_missing(tmp_path, capsys, "--metrics", "CG", there=38)
    assert {row["reason"] for row in found["rows"]} == {None}


def test_missing_values_of_the_pairing_attribute_are_reported_in_the_answer(tmp_path, capsys):
    found = compare_with_missing(tmp_path, capsys, "--metrics", "CG", "--pair-by", "query_id")
    assert {row["reason"] for row in found["rows"]} == {None}
    message = "Not compared: 28 of the base's 40 values of query_id are not in the candidate."
    assert found["answer"].endswith(message)


def test_runs_that_share_one_conversation_are_compared_unpaired(tmp_path, capsys):
    outputs = [
        output_of(
            tmp_path / day, [conversation(f"{day if at else ''}{at}", [[3]]) for at in range(30)]
        )
        for day in ("monday", "tuesday")
    ]
    row = row_of(
        compare(capsys, *outputs, "--metrics", "CG", "--max-i", "1"), "CG", population=None
    )
    assert (row["n_base"], row["reason"]) == (30, None)


def test_examples_include_conversations_without_search_if_the_verdict_does(tmp_path, capsys):
    """The largest losses are conversations in which the candidate did not search."""
    base = [conversation(f"c{at:02}", [[3]]) for at in range(40)]
    candidate = [conversation(f"c{at:02}", [[4]]) for at in range(40)]
    for (record,) in candidate[:10]:
        record["turn_count"] = 2
    outputs = [output_of(tmp_path / name, arm) for name, arm in (("a", base), ("b", candidate))]
    found = compare(capsys, *outputs, "--metrics", "CG", "--examples", "3")["examples"]
    assert [document["key"] for document in found["losses"]] == ["c00", "c01", "c02"]
    assert [document["candidate_value"] for document in found["losses"]] == [0, 0, 0]
    assert [document["key"] for document in found["wins"]] == ["c10", "c11", "c12"]
    assert main(["compare", *outputs, "--examples", "0"]) == 0
    assert "Largest" not in capsys.readouterr().out
