"""The nightly job with its day scored on a real Flink cluster."""

from pathlib import Path

import pytest

from goodgain.pipeline.results.finished_run import read_dataset, read_manifest
from tests.engines.cluster import Cluster
from tests.pipeline.studies.nightly.world import World

pytestmark = pytest.mark.engines
DAY = "2025-03-04"


def rows(world: World, dataset: str) -> list[str]:
    return sorted(map(repr, read_dataset(str(world.place(DAY)), dataset)))


def test_a_night_on_flink_equals_a_local_one(cluster: Cluster, tmp_path: Path) -> None:
    world = World(tmp_path)
    world.make_traces(DAY, 20, seed=1)
    world.configure()
    assert world.nightly("--date", DAY) == 0
    local = {name: rows(world, name) for name in ("conversations", "iterations", "means")}
    scratch = tmp_path / "scratch"
    world.configure(scratch=str(scratch))
    cluster.goodgain("nightly", "--config", str(world.config), "--date", DAY)
    assert read_manifest(str(world.place(DAY)))["engine"] == "FlinkRunner"
    assert {name: rows(world, name) for name in local} == local
    assert list(scratch.iterdir()) == []
    assert world.verdicts() == {DAY: "passed"}
