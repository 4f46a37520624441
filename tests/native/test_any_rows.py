"""Native code reads any rows of Parquet, and survives any description of columns."""

import math
from datetime import datetime
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.files import samples
from tests.native import generated
from tests.native.paths import assert_same, needs_native, new_packer

pytestmark = needs_native


def usually(rng, usual, *odd):
    """One of the usual values, or rarely an odd one."""
    return rng.choice(usual if rng.random() < 0.95 else odd)


def any_pairs(rng, names, value):
    """A map of Parquet, sometimes with a repeated name."""
    names = rng.choices(names, k=2) if rng.random() < 0.1 else rng.sample(names, rng.randint(0, 2))
    return usually(rng, [[(name, value(rng)) for name in names]], None)


def maybe_text(rng):
    return rng.choice([None, generated.any_text(rng)])


def maybe_texts(rng):
    return rng.choice([None, [], *([maybe_text(rng) for _ in range(count)] for count in (1, 2, 3))])


def any_result(rng):
    return {
        **{name: maybe_text(rng) for name in ("entity_type", "id", "url", "title", "snippet")},
        **{name: any_pairs(rng, ["a", "bé", ""], maybe_texts) for name in ("ids", "fields")},
        "gain": usually(rng, [None, 0, 1, 4], -1, 5),
        "score": usually(rng, [None, generated.any_double(rng)], math.nan, math.inf),
        "aspects": maybe_texts(rng),
    }


def any_row(rng):
    return {
        "conversation_id": usually(rng, ["c", "d"], None, "é", " "),
        "iteration": usually(rng, [1, 2, 3], None, 0),
        "turn": usually(rng, [None, 1, 2], 0, -1),
        "query": maybe_text(rng),
        "record_id": usually(rng, [None, "r", "", " "], "\u2003", "é"),
        "timestamp": usually(rng, [None, samples.moment(rng.randrange(10**13))], datetime.min),
        "is_final": rng.choice([None, True, False]),
        "action": usually(rng, [None, "search", "open", "cite"], "close"),
        "error": maybe_text(rng),
        "outcomes": any_pairs(rng, ["correct", ""], lambda rng: rng.choice([None, 0.0, 1.0, -2.5])),
        "attributes": any_pairs(rng, ["arm", "é", ""], maybe_text),
        "results": usually(
            rng, [[any_result(rng) for _ in range(rng.randint(0, 3))]], None, [None]
        ),
    }


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_any_values(seed):
    rng = Random(seed)
    rows = [any_row(rng) for _ in range(20)]
    schema = samples.parquet_schema()
    table = pa.Table.from_pylist(rows, pa.schema([schema.field(name) for name in rows[0]]))
    assert_same(samples.table_bytes(table, group=8), "a.parquet")


def described_column(rng, depth=3):
    """A nonsensical description: random kinds, widths, counts and buffers."""
    nested = depth > 0 and rng.random() < 0.5
    kinds = "list map struct" if nested else "null flag whole unsigned float time text what"
    edges = [0, 1, 2, 3, 5, -1, 2**31, 2**63 - 1]
    inner = [
        (
            rng.choice(["conversation_id", "iteration", "results", "ids", "costs", "score", ""]),
            described_column(rng, depth - 1),
        )
        for _ in range(rng.randrange(5) if nested else 0)
    ]
    return (
        rng.choice(kinds.split()),
        rng.choice([1, 2, 4, 8, 3]),
        (1, 1)
        if nested
        else (
            rng.choice([*edges, -(2**63), rng.randrange(-(2**63), 2**63)]),
            rng.choice([-1, 0, 1, 10**6, rng.randrange(10**6)]),
        ),
        rng.choice([0, 0, 1, 2, 3, 4, 5, 2**64 - 1, rng.randrange(2**64)]),
        [
            rng.choice([None, rng.randbytes(rng.randrange(41)), bytes(rng.randrange(41))])
            for _ in range(rng.randrange(4))
        ],
        inner,
    )


@pytest.mark.slow
def test_any_description_of_columns():
    ids = ("text", 1, (1, 1), 0, [None, bytes(range(9)), b"abcdefgh"], [])
    ones = ("whole", 1, (1, 1), 0, [None, b"\1" * 8], [])
    taken = 0
    for seed in range(3_000):
        rng = Random(seed)
        packer = new_packer()
        other = described_column(rng)
        known = [
            ("conversation_id", ids),
            ("iteration", ones),
            ("results", described_column(rng)),
        ]
        for column in (
            other,
            ("struct", 1, (1, 1), 0, [None], [*known, ("timestamp", other)]),
        ):
            try:
                rows = packer.prepare_rows(column, 6, None)
            except OverflowError:
                continue
            if rows is not None:
                packer.pack_rows(rows, 0, 1_000)
                taken += 1
    assert taken > 300
