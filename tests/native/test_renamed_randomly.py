"""Native code and Python rename the fields of random records alike, by random mappings."""

import json
from random import Random

import pytest

from goodgain.transforms.core.records.adaptation import Adaptation
from tests.core.files import samples
from tests.native import generated
from tests.native.paths import assert_same, needs_native

pytestmark = needs_native

SOURCES = ["a", "b", "c.d", "c.e", "c.f.g", "query", "url", "id", "noise", "ids.x", "a.b"]
CALL = ["query", "tool", "conversation_id", "results", "timestamp", "attributes.a", "costs.b"]
RESULT = ["id", "url", "title", "gain", "ids.file_id", "fields.start", "fields.author"]


def any_adaptation(rng):
    targets = [*rng.sample(CALL, rng.randint(0, 3)), *rng.sample(RESULT, rng.randint(0, 3))]
    sources = [rng.choice(SOURCES) for _ in targets]
    renames = [f"{target}={source}" for target, source in zip(targets, sources, strict=True)]
    return renames, rng.randint(0, 1)


def put_away(row, renames, rng):
    """The row with values where its adaptation looks for them, mostly."""
    row = dict(row)
    for target, source in (rename.split("=") for rename in renames):
        name, _, entry = target.partition(".")
        if rng.random() < 0.2 or name not in row:
            continue
        value = row[name]
        if entry:
            value = generated.any_text(rng) if rng.random() < 0.8 else generated.any_value(rng)
        elif rng.random() < 0.8:
            del row[name]
        *path, last = source.split(".") if rng.random() < 0.9 else [source]
        inside = row
        for part in path:
            inside[part] = dict(inside[part]) if isinstance(inside.get(part), dict) else {}
            inside = inside[part]
        inside[last] = value
    return row


@pytest.mark.slow
def test_random_names_and_records():
    read = rejected = 0
    for seed in range(400):
        rng = Random(seed)
        renames, base = any_adaptation(rng)
        of_calls = [rename for rename in renames if rename.partition("=")[0] in CALL]
        of_results = [rename for rename in renames if rename not in of_calls]
        rows = []
        for _ in range(12):
            row = {"conversation_id": "c", "iteration": rng.randint(0, 2), **generated.record(rng)}
            if isinstance(row.get("results"), list):
                row["results"] = [
                    put_away(result, of_results, rng) if isinstance(result, dict) else result
                    for result in row["results"]
                ]
            rows.append(put_away(row, of_calls, rng))
        adaptation = Adaptation(renames, iteration_base=base)
        lines = samples.jsonl_bytes(rows)
        whole, bad = assert_same(lines, "a.jsonl", adaptation=adaptation)
        read, rejected = read + sum(packed.calls for packed in whole), rejected + len(bad)
        array = json.dumps(rows, indent=seed % 2 or None).encode()
        both = assert_same(array, "a.json", adaptation=adaptation)
        assert both[0] == whole
    assert read > 500
    assert rejected > 500
