"""Rules about changes between runs that search, or reach an outcome, in different conversations."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.pipeline.studies.comparison.traces import conversation, output_of
from tests.pipeline.studies.gate.outcomes import one

pytestmark = pytest.mark.slow


def runs_of(tmp_path, *arms, **options):
    """The outputs of a run over each arm."""
    folder = tempfile.mkdtemp(dir=tmp_path)
    return [output_of(Path(folder, str(at)), arm, **options) for at, arm in enumerate(arms)]


@pytest.fixture
def outcome_of(judge):
    """Judges a rule for the second run, with the first as its baseline."""

    def judge_change(runs, rule, **settings):
        return one(judge([rule], runs[1], "--baseline", runs[0], **settings))

    return judge_change


def make_searched(at, *iterations):
    return conversation(f"c{at:02}", [[gain] for gain in iterations])


def idle(at):
    return conversation(f"c{at:02}", [[0]], turn_count=2)


def test_conversations_without_search_count_if_one_run_has_more_of_them(tmp_path, outcome_of):
    """Four of forty do not search and count with gain 0; the gain of the others outweighs it."""
    base = [make_searched(at, 2) for at in range(40)]
    candidate = [idle(at) if at < 4 else make_searched(at, 4 - at % 2) for at in range(40)]
    runs = runs_of(tmp_path, base, candidate)
    outcome = outcome_of(runs, "CG drop <= 2 %")
    assert outcome["verdict"] == "passed"
    assert outcome["value"] == "2 -> 3.15 (+57.50 %) (everyone: 0 -> 4 did not search)"
    assert outcome["population"] == "everyone"
    worse = outcome_of(runs[::-1], "CG drop <= 2 %")
    assert worse["verdict"] == "failed"


def test_skipping_the_few_conversations_with_most_gain_fails_a_bound(tmp_path, outcome_of):
    """One of forty does not search, too few to switch, but it had a third of all gain."""
    base = [make_searched(at, *([4] * 10 if at == 0 else [2])) for at in range(40)]
    candidate = [idle(at) if at == 0 else make_searched(at, 2 + at % 2) for at in range(40)]
    rule = {"metric": "CG", "drop_at_most": "2 %", "proof": "none"}
    outcome = outcome_of(runs_of(tmp_path, base, candidate), rule)
    assert (outcome["verdict"], outcome["population"]) == ("failed", "everyone")
    assert outcome["value"].endswith("(everyone: 0 -> 1 did not search)")


def test_a_few_labels_more_in_one_run_are_no_breach(tmp_path, outcome_of):
    """Were the candidate's result without a label good, the difference would vanish."""
    base = [make_searched(at, 2 + at % 3) for at in range(40)]
    candidate = [make_searched(at, None if at == 0 else 2 + at % 3) for at in range(40)]
    runs = runs_of(tmp_path, base, candidate)
    by_proof = {
        proof: outcome_of(runs, {"metric": "CG", "drop_at_most": "1 %", "proof": proof})
        for proof in ("of_breach", "of_compliance", "none")
    }
    assert {proof: outcome["verdict"] for proof, outcome in by_proof.items()} == {
        "of_breach": "passed",
        "of_compliance": "failed",
        "none": "failed",
    }
    assert all("have no label" in outcome["reason"] for outcome in by_proof.values())


def unlabelled_in(conversations, others, name):
    """Conversations of three results each, in some of which one has no label."""
    return [
        conversation(f"{name}{at}", [[4 - at % 3, 2, None if at < conversations else 0]])
        for at in range(conversations + others)
    ]


@pytest.mark.parametrize(
    ("fewer", "proof", "verdict", "reason"),
    [
        (0, "of_breach", "passed", "which may be chance"),
        (0, "none", "failed", "not comparable"),
        (0, "of_compliance", "failed", "not comparable"),
        (60, "of_breach", "failed", "not comparable"),  # of 70 conversations, so no chance
    ],
)
def test_labels_that_few_results_lack_by_chance_are_no_breach(
    tmp_path, outcome_of, fewer, proof, verdict, reason
):
    """Of 30 results one has no label in the first night, and four in the second."""
    nights = unlabelled_in(1, 9 + fewer, "a"), unlabelled_in(4 + fewer, 6, "b")
    rule = {"metric": "CG", "drop_at_most": "2 %", "proof": proof, "least_n": 10}
    outcome = outcome_of(runs_of(tmp_path, *nights), rule)
    assert outcome["verdict"] == verdict
    assert reason in outcome["reason"]
    assert "of the results of the base have a label" in outcome["reason"]


def test_an_outcome_reached_sooner_and_more_often_passes(tmp_path, outcome_of):
    """Only one run of a pair is null, so the worst case of nulls must also be an improvement."""
    rule = "iterations_for_all_good_results rise <= 5 %"
    slow = [make_searched(at, 0, 0, 4 if at >= 10 else 0) for at in range(40)]
    fast = [make_searched(at, 0, 4 if at >= 2 else 0, 0) for at in range(40)]
    runs = runs_of(tmp_path, slow, fast)
    assert outcome_of(runs, rule)["verdict"] == "passed"
    sooner_but_fewer = [make_searched(at, 0, 4 if at >= 36 else 0, 0) for at in range(40)]
    outcome = outcome_of(runs_of(tmp_path, slow, sooner_but_fewer), rule)
    assert outcome["verdict"] == "failed"
    assert "the others have no value" in outcome["reason"]


def test_a_proof_uses_the_interval_of_the_gate_or_else_of_the_run(tmp_path, outcome_of):
    """For differences skewed to the right, Student's upper bound is lower than Hall's."""
    gained = np.array([0] * 24 + [2] * 10 + [4] * 4 + [6] * 2)
    base = [make_searched(at, 2) for at in range(40)]
    candidate = [make_searched(at, 2, *[2] * (more // 2)) for at, more in enumerate(gained)]
    stderr = gained.std(ddof=1) / np.sqrt(40)
    high = float(gained.mean() + stats.t.ppf(0.95, 39) * stderr)
    rule = {"metric": "CG", "proof": "of_compliance"}
    within, beyond = ({**rule, "rise_at_most": high + more} for more in (1e-6, -1e-6))

    def verdict(runs, rule, **gate):
        return outcome_of(runs, rule, **gate)["verdict"]

    plain = runs_of(tmp_path, base, candidate)
    assert verdict(plain, within, interval="student") == "passed"
    assert verdict(plain, beyond, interval="student") == "failed"
    assert verdict(plain, within) == "failed"
    student = runs_of(tmp_path, base, candidate, interval="student")
    assert verdict(student, within) == "passed"
    assert verdict(student, within, interval="hall") == "failed"


def test_pairs_by_the_cluster_attribute_are_independent(tmp_path, outcome_of):
    """Their interval is Hall's, which fails; with clusters it is Student's, which passes."""
    gained = np.array([0] * 24 + [2] * 10 + [4] * 4 + [6] * 2)
    base = [conversation(f"c{at}", [[2]], query_id=f"q{at}") for at in range(40)]
    candidate = [
        conversation(f"c{at}", [[2] * (1 + more // 2)], query_id=f"q{at}")
        for at, more in enumerate(gained)
    ]
    high = float(gained.mean() + stats.t.ppf(0.95, 39) * gained.std(ddof=1) / np.sqrt(40))
    rule = {"metric": "CG", "proof": "of_compliance", "rise_at_most": high + 1e-6}

    runs = runs_of(tmp_path, base, candidate)

    def verdict(**more):
        return outcome_of(runs, {**rule, **more}, cluster="query_id")["verdict"]

    assert verdict() == "passed"
    assert verdict(pair_by="query_id") == "failed"


def test_a_bound_in_percent_of_a_negative_mean_allows_as_much_as_of_a_positive_one(
    tmp_path, outcome_of
):
    """From -10.0 to -10.1 is a drop of 1 %, and to -10.3 one of 3 %."""

    def arm(change):
        return [
            [
                {**call, "outcomes": {"score": -10 + at % 3 - change}}
                for call in make_searched(at, 2)
            ]
            for at in range(40)
        ]

    for change, verdict in ((0.1, "passed"), (0.3, "failed")):
        runs = runs_of(tmp_path, arm(0), arm(change))
        rule = {"metric": "outcome.score", "drop_at_most": "2 %", "proof": "none"}
        outcome = outcome_of(runs, rule)
        assert (outcome["verdict"], outcome["value"].split()[0]) == (verdict, "-9.025")
        assert outcome_of(runs[::-1], rule)["verdict"] == "passed"
        for least, verdict in ((-9.5, "passed"), (-9, "failed")):
            level = {"metric": "outcome.score", "at_least": least}
            assert outcome_of(runs[::-1], level)["verdict"] == verdict


def test_a_gain_that_no_label_gave_is_null_and_compares_with_nothing(tmp_path, outcome_of):
    """Without labels gains count as 0, and 0 to 0 would be no drop."""
    labelled = [make_searched(at, 3) for at in range(40)]
    blind = [make_searched(at, None) for at in range(40)]
    labels, none, again = runs_of(tmp_path, labelled, blind, blind, allow_unlabelled=True)
    for metric in ("CG", "SRE"):
        rule = {"metric": metric, "drop_at_most": 0.5}
        outcome = outcome_of((none, again), rule)
        assert (outcome["verdict"], outcome["value"]) == ("failed", "null -> null")
        assert outcome["reason"] == "not comparable: no result has a label"
    outcome = outcome_of((labels, none), "CG drop <= 2 %")
    assert (outcome["verdict"], outcome["value"]) == ("failed", "3 -> null")
    repeated = outcome_of((none, again), "SRR rise <= 0.1")
    assert repeated["verdict"] == "passed"
