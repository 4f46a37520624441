"""Pairs by key, and counts of keys without a pair."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.comparison import pair

ARMS = st.dictionaries(st.integers(0, 20), st.none() | st.floats(0, 1))


def unpaired(pairing):
    return (
        pairing.only_in_base
        + pairing.only_in_candidate
        + pairing.undefined_in_base
        + pairing.undefined_in_candidate
        + pairing.undefined_in_both
    )


def test_every_reason_for_missing_pairs_is_counted():
    base = {"a": 1.0, "b": None, "c": 0.5, "d": None, "e": 2.0, "f": None}
    candidate = {"a": 3.0, "b": 1.0, "c": None, "d": None, "g": 4.0, "h": 5.0, "i": None}
    pairing = pair(base, candidate)
    assert (pairing.keys, pairing.base, pairing.candidate) == (("a",), (1.0,), (3.0,))
    assert (pairing.only_in_base, pairing.only_in_candidate) == (2, 3)
    assert pairing.undefined_in_base == 1
    assert pairing.undefined_in_candidate == 1
    assert pairing.undefined_in_both == 1
    assert (pairing.n, unpaired(pairing)) == (1, 8)


def test_zero_is_a_value():
    assert pair({"a": 0.0}, {"a": 0}).n == 1


@given(ARMS, ARMS)
def test_every_key_is_counted_once(base, candidate):
    pairing = pair(base, candidate)
    assert pairing.n + unpaired(pairing) == len(base.keys() | candidate.keys())
    assert pairing.base == tuple(base[key] for key in pairing.keys)
    assert pairing.candidate == tuple(candidate[key] for key in pairing.keys)


@given(ARMS, ARMS)
def test_order_of_the_input_does_not_matter(base, candidate):
    backwards = dict(reversed(base.items())), dict(reversed(candidate.items()))
    assert pair(*backwards) == pair(base, candidate)
