"""Days whose workers write to a scratch folder, from which the job fetches their outputs."""

import json

import pytest

from goodgain.pipeline.studies.nightly.scratch import discard, fetch
from goodgain.transforms.core.errors import GoodGainError
from tests.pipeline.studies.nightly.world import World

DAY = "2025-03-01"


@pytest.mark.slow
def test_a_day_written_through_a_scratch_folder_is_the_same(tmp_path):
    world = World(tmp_path)
    world.make_traces(DAY, 12, seed=1)
    world.configure()
    assert world.nightly("--date", DAY) == 0
    direct = world.contents(DAY)
    scratch = tmp_path / "scratch"
    (scratch / f"date={DAY}" / ".unfinished").mkdir(parents=True)
    (scratch / f"date={DAY}" / ".unfinished" / "part").write_text("left by a job that was killed")
    world.configure(scratch=str(scratch))
    assert world.nightly("--date", DAY) == 0
    fetched = world.contents(DAY)
    assert fetched.keys() == direct.keys()
    manifests = [json.loads(day.pop("manifest.json")) for day in (direct, fetched)]
    assert [manifest["parameters"].pop("overwrite") for manifest in manifests] == [False, True]
    assert manifests[0] == manifests[1]
    del direct["report.html"], fetched["report.html"]  # it also contains the parameters
    assert fetched == direct
    assert list(scratch.iterdir()) == []


def test_folders_are_fetched_and_discarded_recursively(tmp_path):
    source = tmp_path / "source"
    (source / "deep" / "er").mkdir(parents=True)
    (source / "a").write_bytes(b"\x00a")
    (source / "deep" / "er" / "b.gz").write_bytes(b"no gzip at all")
    fetch(str(source), tmp_path / "target")
    assert (tmp_path / "target" / "a").read_bytes() == b"\x00a"
    assert (tmp_path / "target" / "deep" / "er" / "b.gz").read_bytes() == b"no gzip at all"
    discard(str(source))
    assert not source.exists()
    discard(str(source))


def test_unreachable_folders_are_reported(tmp_path):
    with pytest.raises(GoodGainError, match=r"^nowhere://bucket/date cannot be fetched: "):
        fetch("nowhere://bucket/date", tmp_path)
    with pytest.raises(GoodGainError, match=r"^nowhere://bucket/date cannot be deleted: "):
        discard("nowhere://bucket/date")
