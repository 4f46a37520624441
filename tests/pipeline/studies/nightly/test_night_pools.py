"""The pool of nightly runs: updated each night or pinned; kills, reruns and late files."""

import json
import shutil
from datetime import date

import pytest

from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.studies.nightly.config import NightlyConfig, load_nightly_config
from goodgain.pipeline.studies.nightly.dependencies import Dependencies
from goodgain.pipeline.studies.nightly.job import NightlyRequest, run_nightly
from goodgain.pipeline.studies.pool.store import read_pool
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.runs import manifest, rows
from tests.pipeline.studies.nightly.world import VIEWS, World, config_of
from tests.pipeline.studies.pool.steps import documents, files

pytestmark = pytest.mark.slow
FIRST, SECOND = "2025-03-01", "2025-03-02"


class KilledError(BaseException):
    """Simulates a killed process: a BaseException, so that the job does not handle it."""


def record(number, *found):
    """One search of conversation `number` that finds documents of these names and gains."""
    return {
        "conversation_id": f"c{number}",
        "iteration": 1,
        "attributes": {"query_id": f"q{number}"},
        "results": [{"ids": {"doc_id": f"{number}-{name}"}, "gain": gain} for name, gain in found],
    }


def write_traces(world, day, *names, file="a"):
    """Write twelve conversations that find good documents of these names."""
    path = world.trace_path(day, file)
    first = 0 if file == "a" else 100
    found = [record(first + number, *((name, 3) for name in names)) for number in range(12)]
    path.write_text("".join(json.dumps(one) + "\n" for one in found))


class States:
    """Snapshots of a world, restored to the same folder so that its absolute paths stay valid."""

    def __init__(self, folder):
        self.folder = folder
        self.world = World(folder / "world")
        self.world.pool = self.world.folder / "pool"

    def save(self, name):
        shutil.copytree(self.world.folder, self.folder / name)

    def restore(self, name):
        shutil.rmtree(self.world.folder)
        shutil.copytree(self.folder / name, self.world.folder)
        return self.world


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    """The worlds with which most tests start, each made once."""
    states = States(tmp_path_factory.mktemp("states"))
    world = states.world
    write_traces(world, FIRST, "a", "b")
    write_traces(world, SECOND, "b", "c", "d")
    world.configure(pool={"path": str(world.pool), "update": True, "topic": "query_id"})
    states.save("new")
    assert world.nightly("--date", FIRST) == ExitCode.DONE
    states.save("after the first")
    states.restore("new")
    assert world.nightly("--backfill", FIRST, SECOND) == ExitCode.DONE
    states.save("after both")
    return states


@pytest.fixture
def world(states):
    return states.restore("new")


@pytest.fixture
def after_first(states):
    return states.restore("after the first")


@pytest.fixture
def after_both(states):
    return states.restore("after both")


def labels(world):
    return {
        (one.topic.value, one.evidence[0].ids["doc_id"]): (one.number, one.document)
        for one in documents(world.pool)
    }


def test_each_night_updates_the_pool_and_its_baseline_is_scored_again_with_it(after_first):
    world = after_first
    before = labels(world)
    first = world.entry(FIRST)["pool"]
    assert first["digest"] == read_pool(str(world.pool)).manifest["digest"]
    assert world.nightly("--date", SECOND) == ExitCode.DONE
    assert before.items() <= labels(world).items()
    entry = world.entry(SECOND)
    assert entry["pool"]["digest"] == read_pool(str(world.pool)).manifest["digest"]
    assert entry["pool"]["digest"] != first["digest"]
    assert entry["pool"]["run_name"] == SECOND
    # The first night found all good documents of its own pool, and half of those in the new one.
    assert world.entry(FIRST)["means"]["pool_recall"]["mean"] == 1
    assert entry["means"]["pool_recall"]["mean"] == 0.75
    assert entry["baseline"] == [FIRST]
    assert entry["changes"]["pool_recall"]["base"] == 0.5
    assert entry["changes"]["pool_recall"]["difference"] == 0.25
    assert entry["notes"] == [f"{FIRST} was scored again with this night's pool, to be comparable"]
    table = (world.output / "history.md").read_text()
    assert "| pool |" in table
    assert all(one["pool"]["digest"][:8] in table for one in world.history())
    assert world.hidden() == []


def test_a_rerun_of_a_night_gives_the_same_bytes(after_both):
    world = after_both
    pooled, contents = files(world.pool), world.contents(SECOND)
    assert world.nightly("--date", SECOND) == ExitCode.DONE
    assert files(world.pool) == pooled
    assert world.contents(SECOND) == contents


def test_a_kill_between_updating_the_pool_and_scoring_is_repaired_by_a_rerun(after_first):
    world = after_first

    def killed(config, beam_arguments):
        raise KilledError

    config = load_nightly_config(str(world.config))
    with pytest.raises(KilledError):
        run_nightly(
            config, NightlyRequest(date.fromisoformat(SECOND)), (), Dependencies(VIEWS, run=killed)
        )
    assert not world.place(SECOND).exists()
    assert SECOND in read_pool(str(world.pool)).manifest["runs"]
    pooled = files(world.pool)
    assert world.nightly("--date", SECOND) == ExitCode.DONE
    assert files(world.pool) == pooled
    assert world.entry(SECOND)["means"]["pool_recall"]["mean"] == 0.75


def test_a_kill_while_the_pool_is_created_is_repaired_by_a_rerun(world, monkeypatch):
    with monkeypatch.context() as patched:

        def killed(*arguments):
            raise KilledError

        patched.setattr("goodgain.pipeline.studies.pool.store.write_manifest", killed)
        with pytest.raises(KilledError):
            world.nightly("--date", FIRST)
    assert world.nightly("--date", FIRST) == ExitCode.DONE
    assert [path.name for path in world.pool.glob("documents_*")] == ["documents_0001"]


def test_an_earlier_night_can_be_added_later(world):
    assert world.nightly("--date", SECOND) == ExitCode.DONE
    before = labels(world)
    assert world.nightly("--date", FIRST) == ExitCode.DONE
    assert before.items() <= labels(world).items()
    assert world.entry(FIRST)["means"]["pool_recall"]["mean"] == 0.5
    assert world.entry(FIRST)["baseline"] == []


def test_a_rerun_with_late_files_replaces_the_run_in_the_pool(after_first):
    world = after_first
    write_traces(world, FIRST, "a")
    write_traces(world, FIRST, "z", file="late")
    before = labels(world)
    assert world.nightly("--date", FIRST, "--rerun-late") == ExitCode.DONE
    assert before.items() <= labels(world).items()
    gone = [one for one in documents(world.pool) if not one.places]
    assert {one.evidence[0].ids["doc_id"][-1] for one in gone} == {"b"}
    assert {one.label() for one in gone} == {None}
    assert manifest(world.place(FIRST))["pool"]["pooled"] == 24
    facts = read_pool(str(world.pool)).manifest["runs"][FIRST]
    assert len(facts["inputs"]) == 2
    assert facts["conversations"] == 24


def test_a_night_without_its_traces_cannot_be_the_baseline(after_first):
    world = after_first
    world.trace_path(FIRST).unlink()
    assert world.nightly("--date", SECOND) == ExitCode.DONE
    entry = world.entry(SECOND)
    assert entry["baseline"] == []
    assert "measured something else: pool (one with the digest" in entry["notes"][0]


def test_a_pinned_pool_is_not_updated_and_must_have_its_digest(after_both, capsys):
    world = after_both
    digest = read_pool(str(world.pool)).manifest["digest"]
    world.configure(pool={"path": str(world.pool), "digest": digest[:12]})
    pooled = files(world.pool)
    for day in (FIRST, SECOND):
        assert world.nightly("--date", day) == ExitCode.DONE
        assert world.entry(day)["pool"]["digest"] == digest
        assert world.entry(day)["pool"]["run_name"] == day
    assert files(world.pool) == pooled
    assert world.entry(SECOND)["baseline"] == [FIRST]
    assert world.entry(SECOND)["notes"] == []
    row = next(one for one in rows(world.place(FIRST), "means") if one["metric"] == "pool_recall")
    assert row["mean"] == 0.5
    world.configure(pool={"path": str(world.pool), "digest": "0" * 8})
    assert world.nightly("--date", SECOND) == ExitCode.USAGE
    assert "00000000 is pinned" in capsys.readouterr().out
    assert world.entry(SECOND)["verdict"] == "passed"


def test_a_run_configuration_with_its_own_pool_is_refused(world):
    (world.folder / "own.yaml").write_text("pool: other\n")
    world.configure(
        pool={"path": str(world.pool), "update": True}, run=str(world.folder / "own.yaml")
    )
    assert world.nightly("--date", FIRST) == ExitCode.USAGE
    assert "have a pool, but the nightly job has a pool" in world.history()[0]["reasons"][0]
    assert not world.pool.exists()


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        ("pool", "must be like {path: pool"),
        ({"path": "p"}, "needs either update: true"),
        ({"path": "p", "update": True, "digest": "1f0c94ab"}, "needs either update: true"),
        ({"path": "p", "digest": "abc"}, "8 to 32 hexadecimal digits"),
        ({"path": "p", "digest": "1f0c94ab", "topic": "q"}, "a pinned pool has its own"),
        ({"path": "p", "folder": "q"}, "has no option 'folder'"),
    ],
)
def test_mistakes_in_the_pool_configuration_are_reported(pool, message):
    given = {"input": ["t/{date}/*"], "output": "nights", "pool": pool}
    with pytest.raises(UsageError, match=message.replace("{", r"\{")):
        config_of(json.dumps(given))


def test_scored_excludes_a_pool():
    given = {"input": ["t/{date}/*"], "output": "n", "scored": "s/{date}", "pool": POOL}
    with pytest.raises(UsageError, match="it excludes pool"):
        config_of(json.dumps(given))


POOL = {"path": "p", "update": True}


def test_the_configuration_can_be_written_as_json():
    config = NightlyConfig(input=["t/{date}/*"], output="n", pool=POOL)
    assert config.model_dump(mode="json")["pool"]["path"] == "p"
