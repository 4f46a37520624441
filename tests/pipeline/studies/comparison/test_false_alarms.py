"""How often a comparison of two equal agents finds one better, and how often its intervals hold.

Arms are drawn with replacement from the conversations of the shipped traces, at the level of the
values that are compared, so that no arm has to be scored; everything else is `compare` as it is,
with one iteration, since no family with verdicts is about more.
"""

from collections import Counter
from importlib.resources import files

import numpy as np
import pytest
from msgspec.structs import replace

import goodgain as gg
from goodgain.pipeline.studies.comparison import compare as comparison
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from goodgain.pipeline.studies.comparison.sources import read_arms

COMPARISONS = 120
NOMINAL = 0.05
# Of 120 comparisons with false alarms at 5 %, more than 11 have one in one of 50 runs.
MOST = 11
COUNTS = ("N", "calls", "R", "unlabelled")  # of which rules about missing labels and searches ask

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """The same run as both arms."""
    run = gg.evaluate(str(files("goodgain.configs").joinpath("data/sample.avro")))
    folders = [str(tmp_path_factory.mktemp("run") / name) for name in ("base", "candidate")]
    for folder in folders:
        run.save(folder)
    request = ComparisonRequest(tuple(folders), max_i=1)
    return request, read_arms(request)


def drawn(arm, random, n, skewed, name):
    """An arm of n conversations; if skewed, with values that a factor with a long tail changes."""
    chosen = random.integers(len(arm.ids), size=n)
    factor = random.lognormal(0, 1, n) if skewed else np.ones(n)
    return replace(
        arm,
        ids=tuple(f"{name}{number:03}" for number in range(n)),
        attributes=tuple(arm.attributes[index] for index in chosen),
        reached=arm.reached[chosen],
        at_end={
            metric: values[chosen] * (1 if metric in COUNTS else factor)
            for metric, values in arm.at_end.items()
        },
        by_i={metric: values[chosen] * factor[:, None] for metric, values in arm.by_i.items()},
        left_out={},
        without_search=None,
    )


def outcomes(agent, monkeypatch, n, skewed, paired):
    """In how many comparisons a family has a verdict, and the interval of CG holds."""
    request, both = agent
    request = replace(request, unpaired=not paired)
    random = np.random.default_rng([20251126, n, skewed, paired])
    found = Counter()
    for _ in range(COMPARISONS):
        arms = replace(
            both,
            base=drawn(both.base, random, n, skewed, "c"),
            candidate=drawn(both.candidate, random, n, skewed, "c" if paired else "d"),
        )
        monkeypatch.setattr(comparison, "read_arms", lambda *_, arms=arms: arms)
        rows = comparison.compare(request).rows
        found.update({row.family for row in rows if row.verdict in ("better", "worse")})
        (gain,) = (row for row in rows if row.metric == "CG" and row.i is None)
        found["holds"] += gain.ci_low <= 0 <= gain.ci_high
    return found


@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("paired", [True, False])
def test_equal_agents_seldom_differ_and_intervals_hold(agent, monkeypatch, skewed, paired):
    found = outcomes(agent, monkeypatch, 40, skewed, paired)
    assert found["primary"] <= MOST
    assert found["declared"] <= MOST
    assert found["holds"] >= (1 - NOMINAL) * COMPARISONS - MOST
