"""The memory that one process uses for traces is bounded (SPEC 3)."""

from sys import getsizeof

import pytest

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.memory_budget import (
    CONVERSATION,
    MemoryBudget,
    default_memory_budget,
    rows_of,
)

MEBIBYTE = 2**20


def test_the_default_bound_is_constant_for_small_inputs_and_grows_with_large_ones():
    assert default_memory_budget(0) == default_memory_budget(64 * MEBIBYTE) == 512 * MEBIBYTE
    assert default_memory_budget(128 * MEBIBYTE) == (512 + 16 * 64) * MEBIBYTE


def test_payloads_of_earlier_shards_count_fewer_copies():
    record_bytes = 2 * getsizeof("c") + getsizeof(b"x" * 99)
    budget = MemoryBudget(2_000 * 3 + 2 * 3 * record_bytes + 2 * record_bytes)
    for _ in range(3):
        budget.begin_shard()
        budget.count_read("c", b"x" * 99)
    with pytest.raises(
        GoodGainError,
        match=r"^The traces take more memory .* about .* bytes: raise --max-held-bytes",
    ):
        budget.count_read("c", b"")


def test_payloads_of_the_current_shard_count_twice_as_many_copies():
    record_bytes = 2 * getsizeof("c") + getsizeof(b"x" * 99)
    budget = MemoryBudget(2_000 * 2 + 4 * 2 * record_bytes - 1)
    budget.count_read("c", b"x" * 99)
    with pytest.raises(GoodGainError, match="more memory than one process should hold"):
        budget.count_read("c", b"x" * 99)


def test_text_counts_as_its_size_in_memory():
    MemoryBudget(2**16).count_read("c", "d" * 10_000)
    with pytest.raises(GoodGainError):
        MemoryBudget(2**16).count_read("c", "\N{GRINNING FACE}" + "d" * 10_000)


def test_names_of_labels_count_by_their_bytes():
    MemoryBudget(2**16).count_label("c", "d" * 10_000, what=rows_of("labels"))
    with pytest.raises(GoodGainError):
        MemoryBudget(2**16).count_label("c", "\N{GRINNING FACE}" * 10_000, what=rows_of("labels"))


@pytest.mark.parametrize("kind", ["count", "check_conversation", "count_rows"])
def test_data_of_every_kind_is_bounded(kind):
    grow = {
        "count": lambda budget: budget.count(101),
        "check_conversation": lambda budget: budget.check_conversation([b"xx", b"xx"]),
        "count_rows": lambda budget: budget.count_rows(10, 21),
    }[kind]
    with pytest.raises(GoodGainError):
        grow(MemoryBudget(100))
    grow(MemoryBudget(120))
    grow(MemoryBudget(None))


def test_a_message_names_what_takes_a_tenth_or_more_and_advises_what_helps():
    budget = MemoryBudget(10_000)
    budget.count(900, CONVERSATION)
    budget.count(4_000)
    budget.count(5_000, rows_of("labels"))
    with pytest.raises(GoodGainError) as raised:
        budget.count(101, rows_of("labels"))
    assert str(raised.value) == (
        "The rows of --labels and the traces take more memory than one process should hold, about "
        "10,000 bytes: raise --max-held-bytes if the machine has the memory, or give fewer files."
    )


@pytest.mark.parametrize(
    ("on_engine", "advice"),
    [
        (False, "raise --max-held-bytes if the machine has the memory."),
        (
            True,
            "raise --max-held-bytes if the machine has the memory, or run on an engine that keeps "
            "data on disk (--runner FlinkRunner).",
        ),
    ],
)
def test_another_engine_is_advised_only_where_an_engine_runs(on_engine, advice):
    with pytest.raises(GoodGainError) as raised:
        MemoryBudget(100, on_engine=on_engine).count_label("t", "d", what=rows_of("qrels"))
    assert str(raised.value) == (
        "The rows of --qrels take more memory than one process should hold, about 100 bytes: "
        + advice
    )
