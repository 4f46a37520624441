"""`goodgain.gate`: verdicts that are true or false, print well, and fail tests with reasons."""

import pytest

import goodgain as gg


def calls(gain, conversations=40):
    return [
        {
            "conversation_id": f"c-{number:02}",
            "iteration": 1,
            "results": [{"url": f"https://example.com/{number}", "gain": gain + number % 2}],
        }
        for number in range(conversations)
    ]


@pytest.fixture(scope="module")
def good():
    return gg.evaluate(calls(3))


@pytest.fixture(scope="module")
def poor():
    return gg.evaluate(calls(2))


def test_a_gate_is_true_or_false_and_shows_each_rule(good):
    passed, failed = gg.gate(good, ["CG >= 3", "SRE >= 50 %"]), gg.gate(good, ["CG >= 4"])
    assert passed
    assert not failed
    assert "The gate passed: 2 rules, none failed." in repr(passed)
    assert "Gain (CG)" in repr(failed)
    assert ">3.5000</td>" in failed._repr_html_()
    assert [(outcome["rule"], outcome["verdict"]) for outcome in passed.outcomes] == [
        ("CG", "passed"),
        ("SRE", "passed"),
    ]


def test_check_raises_with_the_rules_that_are_broken(good):
    gg.gate(good, ["CG >= 3"]).check()
    with pytest.raises(gg.GateFailedError) as raised:
        gg.gate(good, ["CG >= 3", "CG >= 4", "SRR <= 10 %", "conversations >= 50"]).check()
    assert str(raised.value).splitlines() == [
        "The gate failed:",
        "  Gain (CG) 3.5000, bound >= 4: it is not at least 4",
        "  count of conversations 40, bound >= 50: it is not at least 50",
    ]


@pytest.mark.parametrize("in_folders", [False, True], ids=["in memory", "in folders"])
def test_changes_are_from_the_baseline(good, poor, tmp_path, in_folders):
    runs = {"good": good, "poor": poor}
    if in_folders:
        for name, run in runs.items():
            run.save(tmp_path / name)
            runs[name] = tmp_path / name
    rules = ["CG drop <= 2 %", {"metric": "CG", "at_least": 2}]
    assert gg.gate(runs["good"], rules, baseline=runs["poor"])
    assert not gg.gate(runs["poor"], rules, baseline=runs["good"])


def test_rules_may_stand_in_a_file(good, tmp_path):
    path = tmp_path / "gate.yaml"
    path.write_text("rules:\n- CG >= 3\n")
    assert gg.gate(good, path)
    assert gg.gate(good, str(path))


def test_a_metric_of_the_user_can_be_bounded():
    @gg.metric(unit="results", words="Calls of a conversation")
    def calls_of_gate(prefix):
        """Search calls so far."""
        return prefix.calls

    assert gg.gate(gg.evaluate(calls(2), metrics=[calls_of_gate]), ["calls_of_gate <= 1"])


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (["SREE >= 0.2"], "rule 1: there is no metric 'SREE' (did you mean 'SRE'?)"),
        (["CG >= 1", {"metric": "CG", "atleast": 2}], "rule 2: atleast is not an option"),
        ([], "must have `rules` with at least one entry"),
        ("SRE >= 0.2", "Rules are a file or a list: give ['SRE >= 0.2']."),
    ],
)
def test_mistakes_in_rules_are_named(good, rules, message):
    with pytest.raises(gg.UsageError) as raised:
        gg.gate(good, rules)
    assert message in str(raised.value)


@pytest.mark.parametrize("function", [gg.compare, lambda *runs: gg.gate(runs[1], ["CG >= 1"])])
def test_what_is_no_run_is_refused_in_one_line(good, function):
    with pytest.raises(gg.UsageError) as raised:
        function(good, {"CG": [1, 2]})
    assert str(raised.value) == (
        "A run is needed, but what was given is of type dict: give what `goodgain.evaluate` or "
        "`goodgain.load` returns, or the output folder of a run."
    )


def test_reasons_name_arguments(good):
    verdict = gg.gate(good, ["CG drop <= 2 %"])
    (outcome,) = verdict.outcomes
    assert outcome["reason"] == "it needs a baseline (baseline=DIR)"
    assert "baseline=DIR" in repr(verdict)
    with pytest.raises(gg.GateFailedError, match="baseline=DIR"):
        verdict.check()
    rule = {"metric": "CG", "at_least": 1, "slice": ["market"]}
    (by_market,) = gg.gate(good, [rule]).outcomes
    assert "was slices" in by_market["reason"]
    assert "--" not in by_market["reason"]


def test_reasons_to_withhold_a_change_name_arguments(good, poor):
    (outcome,) = gg.gate(good, ["ndcg@10 drop <= 2 %"], baseline=poor).outcomes
    assert "the same judgments (qrels or pool)" in outcome["reason"]
