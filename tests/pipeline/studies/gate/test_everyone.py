"""Rules about population `everyone`, in which conversations without search count."""

import pytest

from goodgain.pipeline.studies.gate.outcome import Outcome
from goodgain.pipeline.views.gate import gate_markdown
from tests.pipeline.studies.comparison.traces import conversation, output_of
from tests.pipeline.studies.gate.outcomes import one

pytestmark = pytest.mark.slow


def test_population_everyone_includes_conversations_without_search(judge, tmp_path):
    given = [conversation(f"c{at}", [[4]], turn_count=2 if at < 10 else None) for at in range(40)]
    some = output_of(tmp_path / "some", given)
    for population, mean in (("everyone", "3"), ("all", "4")):
        rules = [
            {"metric": "CG", "population": population, "at_least": 1},
            {"metric": "CG_at_i", "i": 2, "population": population, "at_least": 1},
        ]
        code, outcomes = judge(rules, some)
        assert code == 0
        assert [outcome["value"] for outcome in outcomes] == [mean, mean]
        assert outcomes[0]["n"] == (40 if population == "everyone" else 30)
    whole = output_of(tmp_path / "whole", given[10:])
    rule = {"metric": "CG", "population": "everyone", "at_least": 1}
    assert one(judge([rule], whole))["value"] == "4"


def test_changes_can_use_population_everyone(judge, tmp_path):
    """Two of forty do not search in the run, too few to switch to everyone by default."""
    conversations = [conversation(f"c{at:02}", [[4]]) for at in range(40)]
    fewer = [conversation(f"c{at:02}", [[4]], turn_count=2 if at < 2 else None) for at in range(40)]
    base, run = (
        output_of(tmp_path / name, given)
        for name, given in (("base", conversations), ("run", fewer))
    )
    for population, value, n in (("all", "4 -> 4 (+0.00 %)", 38), ("everyone", "4 -> 3.8", 40)):
        for place in ({"metric": "CG"}, {"metric": "CG_at_i", "i": 1}):
            rule = {**place, "population": population, "drop_at_most": "10 %"}
            outcome = one(judge([rule], run, "--baseline", base))
            assert (outcome["verdict"], outcome["n"]) == ("passed", n)
            assert outcome["value"].startswith(value)


@pytest.mark.parametrize("place", [{"metric": "CG"}, {"metric": "CG_at_i", "i": 1}])
def test_a_population_that_a_rule_names_is_never_replaced(judge, tmp_path, place):
    """Four of forty do not search in the run: the means of `all` leave them out, so it is refused.

    Without a population, the rule at N rests on `everyone`, and says so.
    """
    given = [conversation(f"c{at:02}", [[4]]) for at in range(40)]
    fewer = [conversation(f"c{at:02}", [[4]], turn_count=2 if at < 4 else None) for at in range(40)]
    base, run = (
        output_of(tmp_path / name, conversations)
        for name, conversations in (("base", given), ("run", fewer))
    )
    rule = {**place, "drop_at_most": "50 %"}
    refused = one(judge([{**rule, "population": "all"}], run, "--baseline", base))
    assert (refused["verdict"], refused["population"]) == ("failed", "all")
    assert refused["value"] == "4 -> 4 (+0.00 %)"
    assert refused["reason"] == (
        "not comparable: 0.0 % of the conversations of the base did not search, 10.0 % of the "
        "candidate's; population: everyone includes them"
    )
    named = one(judge([{**rule, "population": "everyone"}], run, "--baseline", base))
    assert (named["verdict"], named["population"]) == ("passed", "everyone")
    assert named["value"] == "4 -> 3.6 (-10.00 %)"
    if "i" not in place:
        switched = one(judge([rule], run, "--baseline", base))
        assert (switched["verdict"], switched["population"]) == ("passed", "everyone")
        assert switched["shown"] == f"{named['shown']} (everyone: 0 -> 4 did not search)"


def test_conversations_without_search_cost_nothing_in_population_everyone(judge, tmp_path):
    conversations = [conversation(f"c{at:02}", [[4]]) for at in range(40)]
    for (record,) in conversations:
        record["costs"] = {"usd": 4}
    base = output_of(tmp_path / "base", conversations)
    for (record,) in conversations[:2]:
        record["turn_count"] = 2
    run = output_of(tmp_path / "run", conversations)
    rule = {"metric": "cost.usd", "population": "everyone", "rise_at_most": "1 %"}
    outcome = one(judge([rule], run, "--baseline", base))
    assert (outcome["verdict"], outcome["n"]) == ("passed", 40)
    assert outcome["value"].startswith("4 -> 3.8")


@pytest.mark.parametrize("population", ["all", "everyone"])
def test_a_gate_explains_everyone_where_it_says_it(population):
    outcome = Outcome("CG", "4", ">= 1", "passed", "", 40, "CG", population)
    explained = "everyone: with the conversations that did not search, which count with 0."
    assert (explained in gate_markdown([outcome], "run")) == (population == "everyone")
