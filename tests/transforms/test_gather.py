"""All payloads of a key are folded together, from a group or from state."""

import tracemalloc
from dataclasses import dataclass

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to

from goodgain.transforms.gather import Fold, FoldGroup, FoldInState, HandOverCoder

PAYLOADS = [("a", b"1"), ("b", b""), ("a", b"22"), ("c", b"3" * 100_000), ("a", b"1")]


@dataclass
class Sorted(Fold):
    def setup(self):
        self.is_set_up = True

    def fold(self, key, payloads):
        assert self.is_set_up
        yield key, sorted(payloads)


@pytest.mark.parametrize("in_state", [False, True], ids=["group", "state"])
@pytest.mark.parametrize("bundle_repeat", [0, 1])
def test_all_payloads_of_a_key_are_folded_together(in_state, bundle_repeat):
    with beam.Pipeline(runner=FnApiRunner(bundle_repeat=bundle_repeat)) as pipeline:
        payloads = pipeline | beam.Create(PAYLOADS).with_output_types(tuple[str, bytes])
        if in_state:
            folded = payloads | beam.ParDo(FoldInState(Sorted()))
        else:
            folded = payloads | beam.GroupByKey() | beam.ParDo(FoldGroup(Sorted()))
        expected = [("a", [b"1", b"1", b"22"]), ("b", [b""]), ("c", [b"3" * 100_000])]
        assert_that(folded, equal_to(expected))


def test_a_payload_is_not_held_beside_its_encoding():
    coder = HandOverCoder()
    added = [b"payload"]
    encoded = coder.encode(added)
    assert added == []
    assert coder.decode(encoded) == [b"payload"]


class Held(Fold):
    def setup(self):
        self.folded = 0

    def fold(self, key, payloads):
        self.folded += 1
        yield self.folded, tracemalloc.get_traced_memory()[0]


def test_state_is_freed_key_by_key():
    def assert_freed(held):
        (_, at_first), *_, (_, at_last) = sorted(held)
        assert at_first - at_last > (keys - 2) * size

    keys, size = 50, 200_000
    tracemalloc.start()
    try:
        with beam.Pipeline(runner=FnApiRunner()) as pipeline:
            names = pipeline | beam.Create(map(str, range(keys)))
            sized = beam.Map(lambda name: (name, bytes(size)))
            payloads = names | sized.with_output_types(tuple[str, bytes])
            assert_that(payloads | beam.ParDo(FoldInState(Held())), assert_freed)
    finally:
        tracemalloc.stop()
