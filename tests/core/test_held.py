"""What one process may hold of traces is bounded (SPEC 3)."""

from sys import getsizeof

import pytest

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.held import HeldBytes, default_held

MEBIBYTE = 2**20


def test_small_inputs_have_a_bound_of_their_own_and_large_ones_one_by_size():
    assert default_held(0) == default_held(64 * MEBIBYTE) == 512 * MEBIBYTE
    assert default_held(128 * MEBIBYTE) == (512 + 16 * 64) * MEBIBYTE


def test_what_was_given_of_a_shard_before_is_copied_no_more():
    one = 2 * getsizeof("c") + getsizeof(b"x" * 99)
    held = HeldBytes(2_000 * 3 + 2 * 3 * one + 2 * one)
    for _ in range(3):
        held.begin_shard()
        held.read("c", b"x" * 99)
    with pytest.raises(GoodGainError, match=r"bytes: raise --max-held-bytes"):
        held.read("c", b"")


def test_within_a_shard_everything_counts_twice():
    one = 2 * getsizeof("c") + getsizeof(b"x" * 99)
    held = HeldBytes(2_000 * 2 + 4 * 2 * one - 1)
    held.read("c", b"x" * 99)
    with pytest.raises(GoodGainError, match="more than one process should hold"):
        held.read("c", b"x" * 99)


def test_a_character_counts_as_the_bytes_that_it_takes():
    HeldBytes(2**16).read("c", "d" * 10_000)
    with pytest.raises(GoodGainError):
        HeldBytes(2**16).read("c", "\N{GRINNING FACE}" + "d" * 10_000)


@pytest.mark.parametrize("more", ["kept", "decoded", "written"])
def test_every_kind_is_bounded(more):
    grow = {
        "kept": lambda held: held.kept(101),
        "decoded": lambda held: held.decoded([b"xx", b"xx"]),
        "written": lambda held: held.written(10, 21),
    }[more]
    with pytest.raises(GoodGainError):
        grow(HeldBytes(100))
    grow(HeldBytes(120))
    grow(HeldBytes(None))
