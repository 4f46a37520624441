"""The nightly job with days that were scored elsewhere, e.g. by a Dataflow template."""

import json
import shutil

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.studies.nightly import scored_elsewhere
from tests.pipeline.studies.nightly.world import World

pytestmark = pytest.mark.slow
DAYS = ["2025-03-01", "2025-03-02"]


@pytest.fixture(scope="module")
def scored_days(tmp_path_factory):
    """Two days scored by the nightly job, and by a run with the arguments of the template."""
    world = World(tmp_path_factory.mktemp("world"))
    world.configure()
    for number, day in enumerate(DAYS):
        world.make_traces(day, 12, seed=number + 1)
        assert world.nightly("--date", day) == 0
        assert score(world, day) == 0
    return world


@pytest.fixture
def world(scored_days, tmp_path):
    """The scored outputs of both days, none published yet."""
    world = World(tmp_path)
    shutil.copytree(scored_days.folder / "traces", tmp_path / "traces")
    shutil.copytree(scored_days.folder / "scored", tmp_path / "scored")
    for path in (tmp_path / "scored").glob("*/manifest.json"):
        path.write_text(path.read_text().replace(str(scored_days.folder), str(tmp_path)))
    configure(world)
    return world


def configure(world, **options):
    world.configure(scored=str(world.folder / "scored/date={date}"), **options)
    options = json.loads(world.config.read_text())
    del options["run"]
    world.config.write_text(json.dumps(options))


def score(world, day, *words):
    """Run what the job of the template runs."""
    options = {
        "config": world.folder / "run.yaml",
        "input": world.folder / f"traces/date={day}/*.jsonl",
        "output": world.folder / f"scored/date={day}",
        "template_location": "gs://bucket/templates/one",
    }
    return main(["run", *(f"--{key}={value}" for key, value in options.items()), *words])


def reason(world, day):
    (found,) = (entry for entry in world.history() if entry["date"] == day)
    assert found["verdict"] == "failed"
    return found["reasons"][0]


def test_published_days_equal_those_that_the_nightly_job_scores(scored_days, world):
    (world.folder / f"scored/date={DAYS[0]}/.unfinished").mkdir()
    (world.folder / f"scored/date={DAYS[0]}/.unfinished/part").write_text("of a running job")
    for day in DAYS:
        assert world.nightly("--date", day) == 0
        taken, direct = world.contents(day), scored_days.contents(day)
        assert taken.keys() == direct.keys()
        manifests = [json.loads(found.pop("manifest.json")) for found in (taken, direct)]
        for manifest, folder in zip(manifests, (world.folder, scored_days.folder), strict=True):
            assert manifest["parameters"].pop("output") == f"{folder}/nights/date={day}"
            del manifest["parameters"]["input"], manifest["inputs"][0]["path"]
        assert manifests[0] == manifests[1]
        del taken["report.html"], direct["report.html"]  # it also contains paths
        assert taken == direct
    assert world.entry(DAYS[1])["baseline"] == DAYS[:1]
    assert sorted(path.name for path in (world.folder / "scored").iterdir()) == [
        f"date={day}" for day in DAYS
    ]
    assert world.hidden() == []


def test_an_unfinished_day_fails_and_a_backfill_publishes_it_later(world, capsys):
    manifest = world.folder / f"scored/date={DAYS[1]}/manifest.json"
    content = manifest.read_text()
    manifest.unlink()
    assert world.nightly("--backfill", *DAYS) == 1
    assert world.verdicts() == {DAYS[0]: "passed", DAYS[1]: "failed"}
    assert reason(world, DAYS[1]).startswith(f"{DAYS[1]} is not finished yet: ")
    assert not world.place(DAYS[1]).exists()
    manifest.write_text(content)
    capsys.readouterr()
    assert world.nightly("--backfill", *DAYS) == 0
    assert f"{DAYS[0]}: " not in capsys.readouterr().out  # already published
    assert set(world.verdicts().values()) == {"passed"}


def test_outputs_of_another_day_are_refused(world):
    place = world.folder / f"scored/date={DAYS[1]}"
    shutil.rmtree(place)
    shutil.copytree(world.folder / f"scored/date={DAYS[0]}", place)
    assert world.nightly("--date", DAYS[1]) == 1
    assert f"are not of {DAYS[1]}: they were made from" in reason(world, DAYS[1])
    assert f"traces/date={DAYS[0]}/a.jsonl" in reason(world, DAYS[1])


def test_days_are_published_after_their_traces_are_deleted(world):
    shutil.rmtree(world.folder / "traces")
    assert world.nightly("--date", DAYS[0]) == 0


def test_outputs_replaced_while_they_are_fetched_are_refused(world, monkeypatch):
    fetch = scored_elsewhere.fetch

    def fetch_then_replace(source, target):
        fetch(source, target)
        path = world.folder / f"scored/date={DAYS[0]}/manifest.json"
        path.write_text(path.read_text().replace('"started": "2', '"started": "3'))

    monkeypatch.setattr(scored_elsewhere, "fetch", fetch_then_replace)
    assert world.nightly("--date", DAYS[0]) == 1
    assert "were replaced while they were fetched" in reason(world, DAYS[0])


def test_a_day_with_late_files_is_published_again_once_it_is_scored_again(world, capsys):
    assert world.nightly("--date", DAYS[0]) == 0
    before = world.contents(DAYS[0])
    world.make_traces(DAYS[0], 3, seed=9, name="late")
    capsys.readouterr()
    assert world.nightly("--date", DAYS[1], "--rerun-late") == 0
    assert f"{DAYS[0]}: passed" not in capsys.readouterr().out
    assert world.contents(DAYS[0]) == before
    assert score(world, DAYS[0], "--overwrite") == 0
    capsys.readouterr()
    assert world.nightly("--date", DAYS[1], "--rerun-late") == 0
    printed = capsys.readouterr().out
    assert f"{DAYS[0]}: passed" in printed
    assert "Input changed" not in printed
    assert world.entry(DAYS[0])["counts"]["input_files"] == 2


def test_late_files_are_reported_with_a_remedy(world, capsys):
    assert world.nightly("--date", DAYS[0]) == 0
    world.make_traces(DAYS[0], 3, seed=9, name="late")
    capsys.readouterr()
    assert world.nightly("--date", DAYS[1], "--rerun-late") == 0
    assert "; score it again, then use --rerun-late." in capsys.readouterr().out


@pytest.mark.parametrize("pattern", ["nowhere://bucket/date={date}", "gs://bucket/date={date}"])
def test_unreachable_outputs_fail_the_day(world, pattern):
    options = json.loads(world.config.read_text()) | {"scored": pattern}
    world.config.write_text(json.dumps(options))
    assert world.nightly("--date", DAYS[0]) == 1
    assert f"date={DAYS[0]} cannot be read" in reason(world, DAYS[0])


def test_outputs_with_an_empty_manifest_fail_the_day(world):
    (world.folder / f"scored/date={DAYS[0]}/manifest.json").write_text("{}")
    assert world.nightly("--date", DAYS[0]) == 1
    assert "is not the output of a run" in reason(world, DAYS[0])
