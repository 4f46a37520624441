"""How often the shipped gate fails a night of an agent that stayed as it is, and of a worse one.

Nights are drawn with replacement from the conversations of a run, at the level of the values that
the gate compares, so that no night has to be scored. What they do not change, such as the share of
rejected records, is the run's.
"""

import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from goodgain.pipeline.studies.comparison.sources import read_arms
from goodgain.pipeline.studies.gate.evaluate import Gate, evaluate
from goodgain.pipeline.studies.gate.evidence import gather
from goodgain.pipeline.studies.gate.gate_file import load_gate
from goodgain.pipeline.studies.gate.outcome import has_passed

NIGHTS, CONVERSATIONS = 40, 300
GAINS = ("CG", "SRE")
CONFIGS = files("goodgain.configs")
GATE = str(CONFIGS.joinpath("gate.yaml"))

pytestmark = pytest.mark.slow


class Agent:
    """A run of an agent, from which nights are drawn: its evidence, and both arms by metric."""

    def __init__(self, traces, gate, folder):
        run = gg.evaluate(traces)
        folders = [str(folder / name) for name in ("base", "candidate")]
        for copy in folders:
            run.save(copy)
        self.evidence = gather(gate, folders[1], folders[0])
        self.arms = {
            rule.metric: read_arms(ComparisonRequest(tuple(folders), metrics=(rule.metric,)))
            for rule in gate.rules
            if rule.is_change
        }


@pytest.fixture(scope="module")
def gate():
    """The gate that `goodgain init nightly` uses."""
    return load_gate(GATE)


@pytest.fixture(scope="module")
def agent(gate, tmp_path_factory):
    """The agent of the shipped traces."""
    return Agent(str(CONFIGS.joinpath("data/sample.avro")), gate, tmp_path_factory.mktemp("runs"))


def make_traces(path, *options):
    """Traces of an agent in a new file; returns its path."""
    assert main(["sample", "--output", str(path), *map(str, options)]) == ExitCode.DONE
    return str(path)


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


def count_failed_nights(gate, agent, share=1.0, conversations=CONVERSATIONS):
    """The number of nights with a share of the gain that fail against a night with all of it."""
    random = np.random.default_rng(20250303)
    failed = 0
    for number in range(NIGHTS):
        drawn = random.integers(len(agent.arms["CG"].base.ids), size=(2, conversations))
        arms = {
            metric: replace(
                both,
                base=night(both.base, drawn[0], f"{number}-before"),
                candidate=night(both.candidate, drawn[1], f"{number}", share),
            )
            for metric, both in agent.arms.items()
        }

        def read(metric, i, arms=arms):
            return arms[metric]

        failed += not has_passed(evaluate(gate, replace(agent.evidence, arms=read)))
    return failed


def test_an_agent_that_stays_as_it_is_fails_at_most_one_night_in_twenty(gate, agent):
    assert count_failed_nights(gate, agent) <= 0.05 * NIGHTS


def test_an_agent_that_loses_15_percent_of_its_gain_fails_at_least_four_nights_in_five(gate, agent):
    assert count_failed_nights(gate, agent, share=0.85) >= 0.8 * NIGHTS


def test_deciding_by_the_means_fails_nights_of_an_agent_that_stays_as_it_is(gate, agent):
    """Which is why a change has to be proven by default."""
    rules = [
        rule.model_copy(update={"proof": "none"}) if rule.is_change else rule for rule in gate.rules
    ]
    by_means = gate.model_copy(update={"rules": rules})
    assert count_failed_nights(by_means, agent) > 0.4 * NIGHTS


# Of other agents: mean iterations, results per call, share of results without a label, and
# conversations of a night.
OTHERS = [(1, 3, 0.04, 300), (3, 10, 0.04, 300), (3, 10, 0.8, 300), (8, 50, 0.04, 40)]


@pytest.mark.parametrize(("iterations", "results", "unlabelled", "conversations"), OTHERS)
def test_nor_do_agents_with_other_numbers_of_results_iterations_and_labels(
    gate, tmp_path, iterations, results, unlabelled, conversations
):
    traces = make_traces(
        tmp_path / "traces.jsonl",
        *("--iterations", iterations, "--results", results),
        *("--unlabelled-share", unlabelled, "--conversations", conversations),
    )
    agent = Agent(traces, gate, tmp_path)
    assert has_passed(evaluate(gate, replace(agent.evidence, arms=None)))  # the first night
    assert count_failed_nights(gate, agent, conversations=conversations) <= 0.05 * NIGHTS


@pytest.mark.parametrize("conversations", [10, 20, 40])
def test_nor_does_a_small_one(gate, agent, conversations):
    assert count_failed_nights(gate, agent, conversations=conversations) <= 0.05 * NIGHTS


@pytest.fixture(scope="module")
def brief_agent(gate, tmp_path_factory):
    """An agent with one search of three results: whether a result has a label weighs most there."""
    folder = tmp_path_factory.mktemp("brief")
    options = ("--iterations", 1, "--results", 3, "--conversations", 1_300)
    return Agent(make_traces(folder / "traces.jsonl", *options), gate, folder)


@pytest.mark.parametrize("conversations", [10, 40])
def test_nor_does_a_small_one_with_few_results(gate, brief_agent, conversations):
    assert count_failed_nights(gate, brief_agent, conversations=conversations) <= 0.05 * NIGHTS


def test_what_a_loss_of_15_percent_takes_to_be_found_grows_with_the_spread_of_the_gain(
    gate, agent, brief_agent
):
    """As the pages say: 800 times the square of the standard deviation over the mean."""
    for each in (agent, brief_agent):
        gains = each.arms["CG"].base.at_end["CG"]
        enough = round(800 * (gains.std(ddof=1) / gains.mean()) ** 2)
        assert 200 < enough < 1_400
        found = count_failed_nights(gate, each, share=0.85, conversations=enough)
        assert 0.7 * NIGHTS <= found <= 0.95 * NIGHTS


def test_of_40_conversations_the_loss_of_half_of_the_gain_is_found(gate, agent):
    assert count_failed_nights(gate, agent, share=0.5, conversations=40) == NIGHTS


def test_six_nights_pass_one_after_the_other(tmp_path):
    """Scored ones, each compared with the one before."""
    before = None
    for day in range(1, 7):
        traces = make_traces(
            tmp_path / f"{day}.jsonl",
            *("--conversations", CONVERSATIONS, "--iterations", 3, "--results", 10),
            *("--seed", f"10{day}", "--start", f"2025-03-0{day}"),
        )
        folder = str(tmp_path / f"night-{day}")
        gg.evaluate(traces).save(folder)
        assert has_passed(Gate.load(GATE, before).outcomes(folder)), day
        before = folder


@pytest.mark.parametrize("labels", ["hardly any", "none"])
def test_a_night_without_labels_is_no_baseline(tmp_path, labels):
    """It would have no gain to compare the next night with, which would fail, and all after it."""
    options = ("--conversations", 60, "--unlabelled-share", 1)
    traces = Path(make_traces(tmp_path / "traces.jsonl", *options))
    if labels == "none":
        traces.write_text(re.sub(r'"gain": ?[0-9]', '"gain": null', traces.read_text()))
    folder = str(tmp_path / "night")
    gg.evaluate(str(traces)).save(folder)
    failed = [each for each in Gate.load(GATE, None).outcomes(folder) if each.verdict == "failed"]
    assert [each.rule for each in failed] == ["SRE"]
