"""Folders of pools and of nights refuse symbolic links, like the output folder of a run."""

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.atomic_files import replace_atomically
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.links import check_links
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.studies.nightly.world import World
from tests.pipeline.studies.pool.steps import build, write_runs
from tests.reference.test_pool import call, doc

MINE = "of another folder"


@pytest.fixture
def outside(tmp_path):
    """A folder and a file that nothing may change."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").write_text(MINE)
    yield outside
    assert [path.name for path in outside.iterdir()] == ["mine"]
    assert (outside / "mine").read_text() == MINE


def link_in(folder, name, outside):
    """Make a link to the file outside, or for the name of a folder to that folder."""
    (folder / name).symlink_to(outside if name.endswith("/") else outside / "mine")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("links")
    runs = write_runs(folder / "runs", {"A": [call(doc("a"))]})
    assert build(folder / "pool", runs) == ExitCode.DONE
    (folder / "labels.csv").write_text("document,gain\nnone,1\n")
    return folder


@pytest.mark.parametrize(
    "name",
    [".lock", ".unfinished/", "documents_0002/", "judged-judge.jsonl", ".manifest.json.unfinished"],
)
@pytest.mark.parametrize(
    "words",
    [
        ("build", "--update", "POOL", "--run", "B=FOLDER/runs/A.jsonl"),
        ("label", "POOL", "--from", "FOLDER/labels.csv"),
        ("judge", "POOL", "--command", "cat"),
    ],
    ids=lambda words: words[0],
)
def test_a_pool_with_a_link_is_not_changed(words, name, built, outside, tmp_path, capsys):
    pool = tmp_path / "pool"
    pool.mkdir()
    for path in (built / "pool").rglob("*"):
        copy = pool / path.relative_to(built / "pool")
        copy.mkdir() if path.is_dir() else copy.write_bytes(path.read_bytes())
    (pool / name).unlink(missing_ok=True)
    link_in(pool, name, outside)
    given = [word.replace("POOL", str(pool)).replace("FOLDER", str(built)) for word in words]
    assert main(["pool", *given]) == ExitCode.USAGE
    assert "a symbolic link; remove it" in capsys.readouterr().err


@pytest.mark.parametrize("name", [".unfinished/", ".lock"])
def test_no_pool_is_built_in_a_folder_with_a_link(name, built, outside, tmp_path, capsys):
    pool = tmp_path / "pool"
    pool.mkdir()
    link_in(pool, name, outside)
    run = f"A={built}/runs/A.jsonl"
    assert main(["pool", "build", "--run", run, "--output", str(pool)]) == ExitCode.USAGE
    assert "a symbolic link; remove it" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name",
    [
        ".lock",
        "date=2025-03-01/",
        ".date=2025-03-01.unfinished/",
        ".history.jsonl.unfinished",
        "history.jsonl",
    ],
)
def test_no_night_is_run_in_a_folder_with_a_link(name, outside, tmp_path, capsys):
    world = World(tmp_path)
    world.configure()
    world.trace_path("2025-03-01").write_text("{}\n")
    world.output.mkdir()
    link_in(world.output, name, outside)
    assert world.nightly("--date", "2025-03-01") == ExitCode.USAGE
    assert "a symbolic link; remove it" in capsys.readouterr().err
    assert [path.name for path in world.output.iterdir()] == [name.rstrip("/")]


def test_links_are_found_at_any_depth_and_when_they_lead_nowhere(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    check_links(str(tmp_path))
    (tmp_path / "a/b/c").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"/a/b/c, a symbolic link"):
        check_links(str(tmp_path))


def test_a_file_is_not_written_through_a_link_with_its_temporary_name(outside, tmp_path):
    temporary = tmp_path / ".file.unfinished"
    temporary.symlink_to(outside / "mine")
    with replace_atomically(tmp_path / "file") as file:
        file.write(b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert not temporary.is_symlink()
