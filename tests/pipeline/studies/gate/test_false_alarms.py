"""How often the shipped gate fails a night of an agent that stayed as it is, and of a worse one.

Nights are drawn with replacement from the conversations of the shipped traces, at the level of the
values that the gate compares, so that no night has to be scored.
"""

from importlib.resources import files

import numpy as np
import pytest
from msgspec.structs import replace

import goodgain as gg
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from goodgain.pipeline.studies.comparison.sources import read_arms
from goodgain.pipeline.studies.gate.evaluate import evaluate
from goodgain.pipeline.studies.gate.evidence import GateEvidence, GateMeans
from goodgain.pipeline.studies.gate.gate_file import load_gate
from goodgain.pipeline.studies.gate.outcome import has_passed

NIGHTS, CONVERSATIONS = 40, 300
GAINS = ("CG", "SRE")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def gate():
    """The rules on change of the gate that `goodgain init nightly` uses."""
    whole = load_gate(str(files("goodgain.configs").joinpath("gate.yaml")))
    return whole.model_copy(update={"rules": [rule for rule in whole.rules if rule.is_change]})


@pytest.fixture(scope="module")
def agent(gate, tmp_path_factory):
    """The values of the agent's conversations, by metric of a rule."""
    run = gg.evaluate(str(files("goodgain.configs").joinpath("data/sample.avro")))
    folders = [str(tmp_path_factory.mktemp("run") / name) for name in ("base", "candidate")]
    for folder in folders:
        run.save(folder)
    return {
        rule.metric: read_arms(ComparisonRequest(tuple(folders), metrics=(rule.metric,)))
        for rule in gate.rules
    }


def night(arm, drawn, name, share=1.0):
    """An arm of drawn conversations, with a share of their gain."""
    at_end = {
        metric: values[drawn] * (share if metric in GAINS else 1.0)
        for metric, values in arm.at_end.items()
    }
    return replace(
        arm,
        ids=tuple(f"{name}-{number}" for number in range(len(drawn))),
        attributes=tuple(arm.attributes[index] for index in drawn),
        reached=arm.reached[drawn],
        at_end=at_end,
        by_i={metric: values[drawn] for metric, values in arm.by_i.items()},
        left_out={},
        without_search=None,
    )


def count_failed_nights(gate, agent, share):
    """The number of nights with a share of the gain that fail against a night with all of it."""
    random = np.random.default_rng(20250303)
    failed = 0
    for number in range(NIGHTS):
        drawn = random.integers(len(agent["CG"].base.ids), size=(2, CONVERSATIONS))
        arms = {
            metric: replace(
                both,
                base=night(both.base, drawn[0], f"{number}-before"),
                candidate=night(both.candidate, drawn[1], f"{number}", share),
            )
            for metric, both in agent.items()
        }

        def read(metric, i, arms=arms):
            return arms[metric]

        evidence = GateEvidence({"parameters": {}}, GateMeans([]), read)
        failed += not has_passed(evaluate(gate, evidence))
    return failed


def test_an_agent_that_stays_as_it_is_fails_at_most_one_night_in_twenty(gate, agent):
    assert count_failed_nights(gate, agent, share=1.0) <= 0.05 * NIGHTS


def test_an_agent_that_loses_15_percent_of_its_gain_fails_at_least_four_nights_in_five(gate, agent):
    assert count_failed_nights(gate, agent, share=0.85) >= 0.8 * NIGHTS


def test_deciding_by_the_means_fails_nights_of_an_agent_that_stays_as_it_is(gate, agent):
    """Which is why a change has to be proven by default."""
    rules = [rule.model_copy(update={"proof": "none"}) for rule in gate.rules]
    by_means = gate.model_copy(update={"rules": rules})
    assert count_failed_nights(by_means, agent, share=1.0) > 0.5 * NIGHTS
