"""Nights that are scored with a pool."""

import json

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.pool_store import read_pool
from tests.pipeline.studies.nightly.world import RUN, World

pytestmark = pytest.mark.slow
FIRST, SECOND, THIRD = "2025-03-01", "2025-03-02", "2025-03-03"


def record(number, *found):
    """One search of conversation `number` that finds documents of these names and gains."""
    return {
        "conversation_id": f"c{number}",
        "iteration": 1,
        "attributes": {"query_id": f"q{number}"},
        "results": [{"ids": {"doc_id": f"{number}-{name}"}, "gain": gain} for name, gain in found],
    }


def write_traces(world, day, *names):
    """Write twelve conversations that find good documents of these names."""
    found = [record(number, *((name, 3) for name in names)) for number in range(12)]
    world.trace_path(day).write_text("".join(json.dumps(record) + "\n" for record in found))


def test_only_nights_that_were_scored_with_the_same_pool_are_compared(tmp_path):
    world = World(tmp_path)
    world.configure()
    pool = tmp_path / "pool"
    (tmp_path / "run.yaml").write_text(f"{RUN}pool: {pool}\n")
    write_traces(world, FIRST, "a", "b")
    write_traces(world, SECOND, "b", "c", "d")
    write_traces(world, THIRD, "b", "c", "e")

    def build(day, *words):
        run = f"{day}={world.trace_path(day)}"
        assert main(["pool", "build", "--run", run, *words]) == 0

    build(FIRST, "--topic", "query_id", "--output", str(pool))
    assert world.nightly("--date", FIRST) == 0
    assert world.nightly("--date", SECOND) == 0
    entry = world.entry(SECOND)
    assert entry["pool"]["digest"] == read_pool(str(pool)).manifest.digest
    assert entry["baseline"] == [FIRST]
    assert entry["changes"]["pool_recall"]["base"] == 1
    assert entry["changes"]["pool_recall"]["difference"] == -0.5

    build(SECOND, "--update", str(pool))
    assert world.nightly("--date", THIRD) == 0
    entry = world.entry(THIRD)
    assert entry["baseline"] == []
    assert "measured something else: pool (one with the digest" in entry["notes"][0]
    for day in (SECOND, THIRD):
        assert world.nightly("--date", day) == 0
    assert world.entry(THIRD)["baseline"] == [SECOND]
    assert world.entry(SECOND)["means"]["pool_recall"]["mean"] == 0.75
    table = (world.output / "history.md").read_text()
    assert all(entry["pool"]["digest"][:8] in table for entry in world.history())
