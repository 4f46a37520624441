"""Generated Parquet files with nulls at every level: native code and Python read them alike.

`python -m tests.native.null_tables [FILES]` compares so many files, 20,000 in three minutes of CPU;
the tests compare a few.
"""

import sys
from random import Random

import pyarrow as pa
from pyarrow import types

from tests.core.files import samples
from tests.native.paths import assert_same

_TEXT = pa.string()
_SCALARS = (
    _TEXT, _TEXT, pa.large_string(), pa.int8(), pa.int64(), pa.float64(), pa.bool_(), pa.null(),
    pa.timestamp("ms"),
)  # fmt: skip
_TEXTS = ("x", "1", "", "true", "2025-03-02", "0.5")
_FLOATS = (0.5, 1.0, 3.0, float("nan"), float("inf"))
_OPTIONAL = ("turn", "timestamp", "is_final", "query", "attributes", "costs", "results")
_DEEPEST = 3
_NULLS = 0.15
_USUAL = 0.7


def any_type(random, depth=0):
    """A type that may be nested, of which few are those that a trace should have."""
    shape = random.randrange(6) if depth < _DEEPEST else 0
    if shape == 2:
        return pa.list_(any_type(random, depth + 1))
    if shape == 3:
        return pa.large_list(any_type(random, depth + 1))
    if shape == 4:
        return pa.map_(_TEXT, any_type(random, depth + 1))
    if shape == 5:
        names = random.sample(("a", "b", "gain", "key", "value"), random.randint(1, 3))
        return pa.struct([(name, any_type(random, depth + 1)) for name in names])
    return random.choice(_SCALARS)


def usual_type(random, name):
    """The type of a column of traces."""
    values = pa.map_(_TEXT, random.choice((_TEXT, pa.list_(_TEXT))))
    fields = {
        "title": _TEXT, "entity_type": _TEXT, "gain": pa.int8(), "score": pa.float64(),
        "ids": values, "fields": values,
    }  # fmt: skip
    chosen = random.sample(sorted(fields), random.randint(1, len(fields)))
    return {
        "iteration": pa.int64(),
        "turn": pa.int32(),
        "timestamp": pa.timestamp("ms"),
        "is_final": pa.bool_(),
        "attributes": pa.map_(_TEXT, _TEXT),
        "costs": pa.map_(_TEXT, pa.float64()),
        "results": pa.list_(pa.struct([(name, fields[name]) for name in chosen])),
    }.get(name, _TEXT)


def value(random, kind):
    """A value of a type; at each level it may be null."""
    if random.random() < _NULLS or types.is_null(kind):
        return None
    if types.is_struct(kind):
        return {field.name: value(random, field.type) for field in kind}
    if types.is_map(kind):
        keys = random.choices(("a", "b", "doc_id"), k=random.randrange(3))
        return [(key, value(random, kind.item_type)) for key in keys]
    if types.is_list(kind) or types.is_large_list(kind):
        return [value(random, kind.value_type) for _ in range(random.randrange(3))]
    if types.is_boolean(kind):
        return random.random() < 0.5
    if types.is_floating(kind):
        return random.choice(_FLOATS)
    if types.is_timestamp(kind):
        return random.choice((0, 1_740_916_800_000))
    return random.choice(
        _TEXTS if types.is_string(kind) or types.is_large_string(kind) else (0, 1, 3)
    )


def parquet(seed):
    """The bytes of a file; most rows have usable ids, so that native code reads them."""
    random = Random(seed)
    needed = {"conversation_id": _TEXT, "iteration": pa.int64()}
    kinds = dict(needed)
    for name in (*needed, *random.sample(_OPTIONAL, random.randint(2, len(_OPTIONAL)))):
        if name not in needed or random.random() < _NULLS:
            is_usual = random.random() < _USUAL
            kinds[name] = usual_type(random, name) if is_usual else any_type(random)
    usable = {"conversation_id": "c", "iteration": 1}
    rows = [
        {
            name: usable[name]
            if kind == needed.get(name) and random.random() > _NULLS
            else value(random, kind)
            for name, kind in kinds.items()
        }
        for _ in range(random.randint(1, 12))
    ]
    return samples.table_bytes(pa.Table.from_pylist(rows, pa.schema(kinds)))


def check(seed):
    """Assert that both read a file alike; the numbers of payloads and of rejected rows."""
    payloads, rejected = assert_same(parquet(seed), "a.parquet")
    return len(payloads), len(rejected)


def _main(count="20000"):
    bad = []
    for seed in range(int(count)):
        try:
            check(seed)
        except AssertionError:
            bad.append(seed)
    sys.stdout.write(f"{count} files with nulls, {len(bad)} bad {bad[:20]}\n")
    sys.exit(bool(bad))


if __name__ == "__main__":
    _main(*sys.argv[1:])
