"""Rules on changes between arms that search, or reach an outcome, in different conversations."""

import json

import numpy as np
import pytest
from scipy import stats

from goodgain.pipeline.__main__ import main
from tests.pipeline.comparison.traces import conversation, output_of

pytestmark = pytest.mark.slow


def outcome_of(tmp_path, capsys, arms, rule, options=(), **gate):
    """The outcome of one rule on the second arm, with the first as its baseline."""
    folders = [
        output_of(tmp_path / str(at), arm, overwrite=True, **dict(options))
        for at, arm in enumerate(arms)
    ]
    path = tmp_path / "gate.yaml"
    path.write_text(json.dumps({"rules": [rule], **gate}))
    capsys.readouterr()
    main(["gate", folders[1], "--config", str(path), "--baseline", folders[0], "--json"])
    (outcome,) = json.loads(capsys.readouterr().out)["outcomes"]
    return outcome


def found(at, *iterations):
    return conversation(f"c{at:02}", [[gain] for gain in iterations])


def idle(at):
    (record,) = conversation(f"c{at:02}", [[0]])
    return [{**record, "results": []}]


def test_where_one_arm_searches_less_everyone_counts(tmp_path, capsys):
    """Four of forty do not search: their gain is 0, and the others make up for it."""
    base = [found(at, 2) for at in range(40)]
    candidate = [idle(at) if at < 4 else found(at, 4 - at % 2) for at in range(40)]
    outcome = outcome_of(tmp_path, capsys, (base, candidate), "CG drop <= 2 %")
    assert outcome["verdict"] == "passed"
    assert outcome["value"] == "2 -> 3.15 (+57.50 %)"
    worse = outcome_of(tmp_path, capsys, (candidate, base), "CG drop <= 2 %")
    assert worse["verdict"] == "failed"


def test_an_outcome_that_more_reach_and_sooner_can_pass(tmp_path, capsys):
    """Nulls stand in one arm alone, and the worst case points the same way."""
    rule = "iterations_for_all_good_results rise <= 5 %"
    slow = [found(at, 0, 0, 4 if at >= 10 else 0) for at in range(40)]
    fast = [found(at, 0, 4 if at >= 2 else 0, 0) for at in range(40)]
    assert outcome_of(tmp_path, capsys, (slow, fast), rule)["verdict"] == "passed"
    sooner_but_fewer = [found(at, 0, 4 if at >= 36 else 0, 0) for at in range(40)]
    outcome = outcome_of(tmp_path, capsys, (slow, sooner_but_fewer), rule)
    assert outcome["verdict"] == "failed"
    assert "the others have no value" in outcome["reason"]


def test_a_proof_rests_on_the_interval_of_the_gate_or_else_of_the_run(tmp_path, capsys):
    """Differences that are skew to the right, whose upper bound Student puts lower than Hall."""
    gained = np.array([0] * 24 + [2] * 10 + [4] * 4 + [6] * 2)
    base = [found(at, 2) for at in range(40)]
    candidate = [found(at, 2, *[2] * (more // 2)) for at, more in enumerate(gained)]
    stderr = gained.std(ddof=1) / np.sqrt(40)
    high = float(gained.mean() + stats.t.ppf(0.95, 39) * stderr)
    rule = {"metric": "CG", "proof": "of_compliance"}
    within, beyond = ({**rule, "rise_at_most": high + more} for more in (1e-6, -1e-6))

    def verdict(rule, options=(), **gate):
        return outcome_of(tmp_path, capsys, (base, candidate), rule, options, **gate)["verdict"]

    assert verdict(within, interval="student") == "passed"
    assert verdict(beyond, interval="student") == "failed"
    assert verdict(within) == "failed"
    by_run = [("interval", "student")]
    assert verdict(within, by_run) == "passed"
    assert verdict(within, by_run, interval="hall") == "failed"


def test_pairs_by_the_cluster_are_one_value_each_and_so_independent(tmp_path, capsys):
    """Their interval is Hall's; one of a cluster for each pair would be Student's, and pass."""
    gained = np.array([0] * 24 + [2] * 10 + [4] * 4 + [6] * 2)
    base = [conversation(f"c{at}", [[2]], query_id=f"q{at}") for at in range(40)]
    candidate = [
        conversation(f"c{at}", [[2] * (1 + more // 2)], query_id=f"q{at}")
        for at, more in enumerate(gained)
    ]
    high = float(gained.mean() + stats.t.ppf(0.95, 39) * gained.std(ddof=1) / np.sqrt(40))
    rule = {"metric": "CG", "proof": "of_compliance", "rise_at_most": high + 1e-6}

    def verdict(**more):
        arms = base, candidate
        return outcome_of(tmp_path, capsys, arms, {**rule, **more}, cluster="query_id")["verdict"]

    assert verdict() == "passed"
    assert verdict(pair_by="query_id") == "failed"
