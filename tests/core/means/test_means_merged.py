"""Means are the same bits in any order and grouping, and encoded accumulators are small."""

from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.means.accumulator import MeansAccumulator
from tests.adversarial import trace
from tests.core.averaging import accumulate, copy_by_bytes, exact_rows, merge_randomly, values_of


@pytest.fixture(scope="module")
def random_values():
    return values_of(trace(Random(11), conversations=150))


@pytest.mark.slow
@given(order=st.randoms(use_true_random=False), bounds=st.booleans())
@settings(max_examples=25)
def test_any_order_and_grouping_gives_the_same_bits(order, bounds):
    values = values_of(trace(Random(order.randint(0, 99)), conversations=12), bounds=bounds)
    serial = accumulate(values)
    merged = merge_randomly(values, order)
    merged.compact()
    assert merged == serial
    assert exact_rows(merged) == exact_rows(serial)


def test_adding_merging_and_compacting_give_the_same(random_values):
    """All added to one; singletons merged; singletons compacted, then merged."""
    serial = accumulate(random_values)
    singletons, compacted = MeansAccumulator(), MeansAccumulator()
    for value in random_values:
        single = MeansAccumulator()
        single.add(value)
        singletons.merge(single)
        single = MeansAccumulator()
        single.add(value)
        single.compact()
        compacted.merge(copy_by_bytes(single))
    singletons.compact()
    assert singletons == serial == compacted
    assert exact_rows(singletons) == exact_rows(serial) == exact_rows(compacted)


def test_encoding_is_lossless(random_values):
    for accumulator in (MeansAccumulator(), accumulate(random_values)):
        assert copy_by_bytes(accumulator) == accumulator
    waiting = MeansAccumulator()
    waiting.add(random_values[0])
    assert copy_by_bytes(waiting) == waiting
    assert exact_rows(copy_by_bytes(waiting)) == exact_rows(waiting)


def test_merging_does_not_change_the_other_accumulator(random_values):
    one, other = accumulate(random_values[:20]), accumulate(random_values[20:50])
    before = exact_rows(other)
    one.merge(other)
    one.add(random_values[60])
    one.compact()
    assert exact_rows(other) == before


@pytest.mark.parametrize("merged", [False, True])
def test_full_batches_are_added(random_values, monkeypatch, merged):
    monkeypatch.setattr("goodgain.transforms.core.means.accumulator._BATCH", 7)
    accumulator = MeansAccumulator()
    for value in random_values:
        if merged:
            accumulator.merge(MeansAccumulator(pending=[value]))
        else:
            accumulator.add(value)
        assert len(accumulator.pending) < 7
    accumulator.compact()
    assert accumulator == accumulate(random_values)


def test_encoded_accumulators_are_small(random_values):
    """For bundles of any size: the values of a few conversations, or sums over many."""
    sizes = []
    for conversations in range(1, 41):
        accumulator = MeansAccumulator()
        for value in random_values[:conversations]:
            accumulator.add(value)
        accumulator.prepare_to_send()
        sizes.append(len(msgspec.msgpack.encode(accumulator)))
    assert sizes[0] < 2_000
    assert all(size < 2_000 * number for number, size in enumerate(sizes, start=1))
    assert not accumulator.pending  # 40 conversations take more bytes than their sums
    accumulator.add(random_values[0])
    accumulator.prepare_to_send()
    assert not accumulator.pending  # once there are sums, even one conversation is added
