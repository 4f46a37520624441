"""Opened and cited documents are compared and gated like any metric (SPEC 11)."""

from random import Random

import pytest

import goodgain as gg


def doc(name, gain=None):
    return {"url": f"https://ex.org/{name}", "gain": gain}


def records(share, seed, conversations=40):
    """Conversations whose agent opens a share of what it found, and cites nothing."""
    random = Random(seed)
    for number in range(conversations):
        own = {
            "conversation_id": f"c{number}",
            "attributes": {"market": random.choice(["de", "fr"])},
        }
        found = [(f"{number}-{rank}", random.choice([0, 2, 3])) for rank in range(10)]
        yield {
            **own,
            "iteration": 1,
            "query": "q",
            "results": [doc(*arguments) for arguments in found],
        }
        opened = [doc(name) for name, _ in found if random.random() < share]
        yield {**own, "iteration": 2, "action": "open", "results": opened}


@pytest.fixture(scope="module")
def runs():
    return [
        gg.evaluate(list(records(share, seed)), slices=["market"])
        for share, seed in ((0.2, 1), (0.8, 2))
    ]


def test_the_agent_that_opens_more_of_what_it_found_is_better(runs):
    compared = gg.compare(*runs)
    verdicts = {
        name: compared.rows.where(metric=name)[0]["verdict"]
        for name in ("open_recall", "CG_opened", "cited")
    }
    assert verdicts == {"open_recall": "better", "CG_opened": "better", "cited": "not shown"}


def test_rules_of_a_gate_take_them_in_slices_too(runs):
    fewer, more = runs
    assert gg.gate(more, ["open_recall >= 0.6"])
    assert not gg.gate(fewer, ["open_recall >= 0.6"])
    assert gg.gate(more, ["open_recall drop <= 5 %", "calls_failed <= 0"], baseline=fewer)
    rows = more.means.where(metric="open_recall")
    assert {tuple(row["slice"].items()) for row in rows if row["population"] == "all"} == {
        (),
        (("market", "de"),),
        (("market", "fr"),),
    }
