"""Pairs by key, and counts of keys without a pair."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.matching import BY_ID, match, sample
from goodgain.pipeline.studies.comparison.measures import Measure

CG = Measure("CG", None, "all")
ARMS = st.dictionaries(st.text("abcdefghi", min_size=1, max_size=2), st.none() | st.floats(0, 1))


def arm(values):
    """One conversation per id, whose CG is the value; None is null."""
    ids = sorted(values)
    gains = np.array([values[id_] for id_ in ids], dtype=float)
    return Arm("arm", tuple(ids), ({},) * len(ids), np.ones(len(ids), int), {"CG": gains}, {}, {})


def pairs_of(base, candidate):
    """The keys of the pairs that have a value in both arms, with these values and the counts."""
    matched = match(arm(base), arm(candidate), BY_ID, paired=True)
    values = sample(matched, CG)
    keys = [matched.keys[index] for index in values.shared.tolist()]
    return keys, values.base.tolist(), values.candidate.tolist(), values


def test_every_reason_for_missing_pairs_is_counted():
    base = {"a": 1.0, "b": None, "c": 0.5, "d": None, "e": 2.0, "f": None}
    candidate = {"a": 3.0, "b": 1.0, "c": None, "d": None, "g": 4.0, "h": 5.0, "i": None}
    *pairs, counts = pairs_of(base, candidate)
    assert pairs == [["a"], [1.0], [3.0]]
    assert (counts.only_in_base, counts.only_in_candidate) == (2, 3)
    assert (counts.undefined_in_base, counts.undefined_in_candidate) == (1, 1)
    assert counts.undefined_in_both == 1


def test_zero_is_a_value():
    assert pairs_of({"a": 0.0}, {"a": 0.0})[0] == ["a"]


@given(ARMS, ARMS)
def test_every_key_is_counted_once(base, candidate):
    keys, of_base, of_candidate, counts = pairs_of(base, candidate)
    without_pair = (
        counts.only_in_base
        + counts.only_in_candidate
        + counts.undefined_in_base
        + counts.undefined_in_candidate
        + counts.undefined_in_both
    )
    assert len(keys) + without_pair == len(base.keys() | candidate.keys())
    assert of_base == [base[key] for key in keys]
    assert of_candidate == [candidate[key] for key in keys]
