"""`goodgain gate` on the command line: all kinds of rules and verdicts."""

import json
from importlib.resources import files
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.finished_run import read_dataset
from tests.pipeline.studies.comparison.traces import conversation, output_of, values_by_id
from tests.pipeline.studies.gate.outcomes import one

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("SRE >= 0.2", "passed"),
        ("SRE >= 0.99", "failed"),
        ("SRR <= 0", "passed"),
        ({"metric": "CG", "at_least": 5, "at_most": 6}, "failed"),
        ({"metric": "CG_at_i", "i": 1, "population": "all", "at_least": 1}, "passed"),
        ({"metric": "CG_at_i", "i": 4, "population": "reached", "at_least": 100}, "failed"),
        ("ndcg@10 >= 0.1", "passed"),
        ("gauc <= 1", "passed"),
        ("rejected <= 0.5 %", "failed"),
        ("rejected <= 5 %", "passed"),
        ("late <= 0 %", "passed"),
        ("unlabelled <= 0.1 %", "failed"),
        ("unlabelled <= 2 %", "passed"),
        ({"share": "undefined", "metric": "recall@10", "at_most": "1 %"}, "failed"),
        ({"share": "undefined", "metric": "CG", "at_most": "0 %"}, "passed"),
        ("conversations >= 43", "passed"),
        ("conversations >= 44", "failed"),
    ],
)
def test_bounds_on_values_of_the_run(judge, runs, rule, verdict):
    outcome = one(judge([rule], runs[1]))
    assert outcome["verdict"] == verdict
    assert outcome["value"]


@pytest.mark.parametrize("bound", ["at_least", "at_most"])
def test_a_bound_met_exactly_passes(judge, runs, bound):
    (mean,) = [
        row["mean"]
        for row in read_dataset(runs[1], "means")
        if row["metric"] == "CG" and row["i"] is None and not row["slice"]
    ]
    assert one(judge([{"metric": "CG", bound: repr(mean)}], runs[1]))["verdict"] == "passed"


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("recall@3 >= 0", "no such mean"),
        ({"metric": "CG_at_i", "i": 99, "population": "all", "at_least": 0}, "no such mean"),
        ({"metric": "CG", "at_least": 0, "slice": ["arm"]}, "no means of this slice"),
        ({"metric": "CG", "at_least": 0, "slice": {"market": "xx"}}, "no means of this slice"),
        ({"metric": "CG", "at_least": 0, "least_n": 1000}, "n = 43 is below least_n = 1,000"),
        ({"share": "undefined", "metric": "recall@3", "at_most": 1}, "no such mean"),
    ],
)
def test_missing_values_fail(judge, runs, rule, reason):
    outcome = one(judge([rule], runs[1]))
    assert outcome["verdict"] == "failed"
    assert reason in outcome["reason"]


def test_null_means_fail_any_bound(judge, tmp_path):
    run = output_of(tmp_path / "unlabelled", [conversation("c", [[None]])])
    outcomes = judge(["recall@10 >= 0", {"metric": "recall@10", "at_most": 1}], run, least_n=1)[1]
    assert [outcome["verdict"] for outcome in outcomes] == ["failed", "failed"]
    assert {outcome["value"] for outcome in outcomes} == {"null"}


def test_a_run_without_searches_fails(judge, tmp_path):
    run = output_of(tmp_path / "nothing", [conversation("c", [[2]], turn_count=2)])
    rules = ["SRE >= 0", "SRR <= 1", "unlabelled <= 100 %", "conversations >= 1"]
    code, outcomes = judge(rules, run, least_n=1)
    assert code == 4
    assert {outcome["verdict"] for outcome in outcomes} == {"failed"}


def test_each_slice_has_its_own_verdict(judge, runs):
    rule = {"metric": "CG", "at_least": 1, "slice": ["market"], "least_n": 2}
    code, outcomes = judge([rule], runs[1])
    assert code == 4
    verdicts = {outcome["rule"]: outcome["verdict"] for outcome in outcomes}
    assert verdicts == {
        "CG, market = de": "passed",
        "CG, market = es": "failed",
        "CG, market = fr": "passed",
    }
    only = one(judge([{**rule, "slice": {"market": "de"}}], runs[1]))
    assert only["rule"] == "CG, market = de"


@pytest.mark.parametrize(
    "rule",
    [
        {"metric": "SRE", "at_least": 0.99},
        {"metric": "CG", "rise_at_most": "1 %"},  # es is only in the run, and counts too
    ],
)
def test_confidence_is_corrected_for_the_number_of_slices(judge, runs, rule):
    rule = {**rule, "slice": ["market"], "proof": "of_compliance", "least_n": 2}
    outcomes = judge([rule], runs[1], "--baseline", runs[0])[1]
    reasons = {outcome["rule"].split(" = ")[1]: outcome["reason"] for outcome in outcomes}
    assert reasons.keys() == {"de", "es", "fr"}
    for market in ("de", "fr"):
        assert "98.3333 % sure" in reasons[market]
        assert "(95 % over 3 proofs)" in reasons[market]


def test_a_gate_divides_the_error_among_its_proofs(judge, runs):
    """One proof has 95 %, two have 97.5 % each; proofs about slices are counted separately."""
    proven = {"metric": "CG", "drop_at_most": "1 %", "proof": "of_breach"}
    fails = {"metric": "SRE", "at_least": 0.99, "proof": "of_compliance"}

    def reason(*rules):
        _, (first, *_) = judge(rules, runs[1], "--baseline", runs[0], least_n=2)
        return first["reason"]

    alone = reason(fails)
    assert "95 % sure" in alone
    assert "over" not in alone
    assert reason(fails, {**proven, "slice": ["market"]}) == alone
    assert "97.5 % sure" in reason(fails, proven)
    assert "(95 % over 2 proofs)" in reason(fails, proven)


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("CG drop <= 0 %", "passed"),
        ("CG rise <= 1 %", "failed"),
        ("CG rise <= 50 %", "passed"),
        ("CG rise <= 0.1", "failed"),
        ("CG rise <= 2", "passed"),
        ("SRR rise <= 0", "passed"),
        ({"metric": "CG", "drop_at_most": 0, "rise_at_most": "1 %"}, "failed"),
        ({"metric": "CG", "drop_at_most": "2 %", "proof": "of_compliance"}, "passed"),
        ({"metric": "CG", "rise_at_most": "1 %", "proof": "of_breach"}, "failed"),
        ({"metric": "CG_at_i", "i": 2, "population": "all", "drop_at_most": 0}, "passed"),
    ],
)
def test_bounds_on_the_change_against_a_baseline(judge, runs, rule, verdict):
    outcome = one(judge([rule], runs[1], "--baseline", runs[0]))
    assert outcome["verdict"] == verdict
    assert "->" in outcome["value"]
    assert outcome["n"] == 42


@pytest.mark.parametrize("confidence", [0.6, 0.9, 0.95, 0.99, 0.9999])
@pytest.mark.parametrize("percent", [-0.0, 5, 10, 20, 40])
def test_statistical_margins_are_one_sided_t_tests(judge, runs, percent, confidence):
    """Against scipy: candidate - (1 - drop) base, tested one-sided on the same pairs."""
    new, old = runs  # the arms swapped, so that CG drops
    before, after = values_by_id(old, "CG"), values_by_id(new, "CG")
    pairs = sorted(before.keys() & after.keys())
    scaled = [after[key] - (1 - percent / 100) * before[key] for key in pairs]
    amount = f"{abs(percent)} %"
    for proof, alternative in (("of_compliance", "greater"), ("of_breach", "less")):
        rule = {
            "metric": "CG",
            "drop_at_most": amount,
            "proof": proof,
            "confidence": f"{confidence * 100:g} %",
        }
        p = stats.ttest_1samp(scaled, 0, alternative=alternative).pvalue
        shown = p <= 1 - confidence
        keeps = shown if proof == "of_compliance" else not shown
        outcome = one(judge([rule], new, "--baseline", old, interval="student"))
        assert outcome["verdict"] == ("passed" if keeps else "failed")


def test_absolute_bounds_can_require_confidence(judge, runs):
    sample = [value for value in values_by_id(runs[1], "SRE").values() if value is not None]
    a, t = stats.skew(sample) / len(sample) ** 0.5, stats.t.ppf(0.95, len(sample) - 1)
    reach = 3 * (np.cbrt(1 + a * (t - a / 6)) - 1) / a
    limit = float(np.mean(sample) - reach * stats.sem(sample))
    for bound, verdict in ((limit - 1e-6, "passed"), (limit + 1e-6, "failed")):
        rule = {"metric": "SRE", "at_least": repr(bound), "proof": "of_compliance"}
        assert one(judge([rule], runs[1]))["verdict"] == verdict


def test_a_slice_that_only_the_baseline_has_fails(judge, runs):
    rule = {
        "metric": "CG",
        "drop_at_most": "99 %",
        "slice": ["market"],
        "least_n": 1,
        "proof": "none",
    }
    code, outcomes = judge([rule], runs[0], "--baseline", runs[1])
    failed = [outcome for outcome in outcomes if outcome["verdict"] == "failed"]
    assert code == 4
    assert [outcome["rule"] for outcome in failed] == ["change of CG, market = es"]


def test_a_single_pair_has_no_interval_and_fails_proofs(judge, tmp_path):
    run, same = (output_of(tmp_path / name, [conversation("c", [[4]])]) for name in ("a", "b"))
    rule = {"metric": "CG", "drop_at_most": "50 %", "least_n": 1}
    by_means = {**rule, "proof": "none"}
    assert one(judge([by_means], run, "--baseline", same))["verdict"] == "passed"
    for proof in ("of_compliance", "of_breach"):
        outcome = one(judge([{**rule, "proof": proof}], run, "--baseline", same))
        assert outcome["verdict"] == "failed"
        assert "one pair has no interval" in outcome["reason"]
        assert outcome["reason"].count("no interval") == 1


def test_a_constant_share_has_wilsons_bound(judge, tmp_path):
    """40 of 40 have a hit: Wilson's one-sided 95 % bound is 40 / (40 + 1.644854^2) = 0.93664."""
    run = output_of(tmp_path / "out", [conversation(f"c{at}", [[4]]) for at in range(40)])
    for bound, verdict in ((0.9366, "passed"), (0.9367, "failed")):
        rule = {"metric": "hit_rate@10", "at_least": bound, "proof": "of_compliance"}
        outcome = one(judge([rule], run))
        assert outcome["verdict"] == verdict
        assert "95 % sure that it is at least 0.9366" in outcome["reason"]


def test_constant_values_have_no_interval_and_fail_proofs_of_compliance(judge, tmp_path):
    run = output_of(tmp_path / "out", [conversation(f"c{at}", [[4]]) for at in range(40)])
    rule = {"metric": "CG", "at_least": 3, "at_most": 5, "proof": "of_compliance"}
    outcome = one(judge([rule], run))
    assert outcome["verdict"] == "failed"
    assert "no interval: no value differs" in outcome["reason"]
    for bound, verdict in ((4, "passed"), (4.1, "failed")):
        outcome = one(judge([{"metric": "CG", "at_least": bound, "proof": "of_breach"}], run))
        assert outcome["verdict"] == verdict
        assert "no interval: no value differs" in outcome["reason"]


@pytest.mark.parametrize("ids", ["cc", "cd"], ids=["pairs", "two samples"])
def test_a_change_without_spread_proves_a_breach_but_no_compliance(judge, tmp_path, ids):
    """Every conversation has 4 before and 4 or 3 after; another one may still differ."""
    base, same, worse = (
        output_of(
            tmp_path / str(at), [conversation(f"{which}{number}", [[gain]]) for number in range(40)]
        )
        for at, (which, gain) in enumerate([(ids[0], 4), (ids[1], 4), (ids[1], 3)])
    )

    def outcome(run, bound, proof="of_breach"):
        rule = {"metric": "CG", "drop_at_most": bound, "proof": proof}
        return one(judge([rule], run, "--baseline", base))

    for bound in (0, 0.5, "0 %", "1 %"):
        assert outcome(same, bound)["verdict"] == "passed"
        not_proven = outcome(same, bound, "of_compliance")
        assert not_proven["verdict"] == "failed"
        assert "no interval" in not_proven["reason"]
    for bound, change in ((0, "1.000, more than 0"), ("20 %", "25 %, more than 20 %")):
        failed = outcome(worse, bound)
        assert failed["verdict"] == "failed"
        assert failed["reason"].startswith(f"it drops by {change}; no interval: ")
        assert failed["reason"].count("no interval") == 1
    for bound in (1, "25 %"):
        assert outcome(worse, bound)["verdict"] == "passed"


def test_clusters_that_differ_alike_do_not_prove_compliance(judge, tmp_path):
    """Both clusters fall by 1 on average, but their pairs by 0 or 2."""
    folders = [
        output_of(
            tmp_path / str(arm),
            [
                conversation(f"c{at}", [[4 - 2 * arm * (at % 2)]], query=f"q{at // 20}")
                for at in range(40)
            ],
        )
        for arm in (0, 1)
    ]
    for proof, bound, verdict in (
        ("of_compliance", 1, "failed"), ("of_breach", 1, "passed"), ("of_breach", 0.9, "failed"),
    ):  # fmt: skip
        rule = {"metric": "CG", "drop_at_most": bound, "proof": proof}
        outcome = one(judge([rule], folders[1], "--baseline", folders[0], cluster="query"))
        assert outcome["verdict"] == verdict


def test_fewer_than_30_conversations_fail_by_default(judge, tmp_path):
    run = output_of(tmp_path / "out", [conversation(f"c{at}", [[4]]) for at in range(29)])
    outcome = one(judge(["CG >= 1"], run))
    assert outcome["reason"] == (
        "n = 29 is below least_n = 30: score more conversations, or give the rule a smaller least_n"
    )
    assert one(judge(["CG >= 1"], run, least_n=29))["verdict"] == "passed"


def test_a_rule_for_a_budget_that_the_run_lacks_names_the_option(judge, runs):
    assert "was --budget tokens=300 used" in one(judge(["CG@tokens<=300 >= 3"], runs[1]))["reason"]


def test_too_few_pairs_fail(judge, runs):
    outcome = one(judge(["CG drop <= 99 %"], runs[1], "--baseline", runs[0], least_n=43))
    assert outcome["verdict"] == "failed"
    assert "42 pairs are below least_n = 43" in outcome["reason"]


def test_without_a_baseline_rules_about_changes_fail_or_are_skipped(judge, runs):
    outcome = one(judge(["CG drop <= 99 %"], runs[1]))
    assert outcome["verdict"] == "failed"
    assert "--baseline" in outcome["reason"]
    assert one(judge(["CG drop <= 99 %"], runs[1], without_baseline="skip"))["verdict"] == "skipped"


def test_a_baseline_with_other_options_fails_without_force(judge, tmp_path, runs):
    other = output_of(tmp_path / "other", [conversation("c01", [[4]])], good_gain_threshold=3)
    outcome = one(judge(["CG drop <= 99 %"], runs[1], "--baseline", other, least_n=1))
    assert outcome["verdict"] == "failed"
    assert "good_gain_threshold (3 against 2)" in outcome["reason"]
    forced = one(judge(["CG drop <= 99 %"], runs[1], "--baseline", other, "--force", least_n=1))
    assert "c01" not in forced["reason"]
    assert "conversations are not in the base" in forced["reason"]


def test_files_for_ci_systems(tmp_path, runs, capsys):
    gate = tmp_path / "gate.yaml"
    gate.write_text(
        "without_baseline: skip\n"
        "rules: [SRE >= 0.2, SRE >= 0.99, CG drop <= 2 %,\n"
        "  {name: 'a | b <script>\\x1b', metric: CG, at_least: 99}]\n".replace("'", '"')
    )
    junit, markdown = tmp_path / "junit.xml", tmp_path / "summary.md"
    words = ["--config", str(gate), "--junit", str(junit), "--markdown", str(markdown)]
    assert main(["gate", runs[1], *words]) == 4
    printed = capsys.readouterr().out
    assert "The gate failed: 2 of 3 rules; 1 skipped." in printed
    assert "\x1b" not in printed
    suites = ElementTree.parse(junit).getroot()
    (suite,) = suites
    assert (suites.tag, suite.tag) == ("testsuites", "testsuite")
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "2", "errors": "0", "skipped": "1"}
    assert {"name", "time", "timestamp", "hostname"} <= set(suite.keys())
    assert [case.tag for case in suite] == ["testcase"] * 4
    assert all({"name", "classname", "time"} == set(case.keys()) for case in suite)
    assert [[child.tag for child in case] for case in suite] == [
        ["system-out"],
        ["failure"],
        ["skipped"],
        ["failure"],
    ]
    assert {"type", "message"} == set(suite[1][0].keys())
    text = markdown.read_text()
    assert text.startswith("### Gate failed (2 of 4 rules)")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 6
    assert "<script>" not in text.replace("\\<script\\>", "")


def test_the_shipped_example_works(runs, capsys):
    config = str(files("goodgain.configs").joinpath("gate.yaml"))
    assert main(["gate", runs[1], "--config", config, "--baseline", runs[0]]) == 0
    assert "The gate passed: 6 rules, none failed." in capsys.readouterr().out


STOPPING = "Gain per iteration (RG), Gain per result (RAG): Stopping early raises it"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (["RG >= 0.1", "RAG drop <= 2 %", "CG >= 0.1"], True),
        (["CG >= 0.1", {"metric": "RG_at_i", "i": 2, "population": "all", "at_least": 0.1}], False),
        ([{"share": "undefined", "metric": "RG", "at_most": "90 %"}], False),
    ],
)
def test_metrics_that_reward_stopping_give_a_caution(runs, tmp_path, capsys, rules, expected):
    gate, summary = tmp_path / "gate.yaml", tmp_path / "summary.md"
    gate.write_text(json.dumps({"rules": rules}))
    words = ["--baseline", str(runs[0]), "--markdown", str(summary)]
    main(["gate", runs[1], "--config", str(gate), *words])
    assert (STOPPING in capsys.readouterr().out) is expected
    assert ("Stopping early raises it" in summary.read_text()) is expected
