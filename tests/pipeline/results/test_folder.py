"""The output folder: which contents a run refuses, replaces and keeps (SPEC 6)."""

import os

import pytest

from goodgain.pipeline.results.finished_run import read_manifest
from goodgain.pipeline.results.folder import (
    check_written,
    discard_unfinished,
    write_file,
)
from goodgain.pipeline.results.output_kinds import (
    COMPARISON_OUTPUTS,
    RUN_OUTPUTS,
    STREAM_OUTPUTS,
    kind_of,
)
from goodgain.pipeline.results.replacement import clear, prepare, publish
from goodgain.pipeline.run.stream.panes import Pane
from goodgain.transforms import filesystems
from goodgain.transforms.core.errors import GoodGainError, UsageError

OURS = (
    "manifest.json",
    ".manifest.json.unfinished",
    "report.html",
    "means/part-00000-of-00001.avro",
    "iterations/part-00001-of-00002.parquet",
    "rejected/part-00000-of-00001.jsonl",
    ".unfinished/summary.json",
    ".unfinished/means/part-00000-of-00001.avro",
)
FOREIGN = (
    "notes.txt",
    ".hidden",
    "means/notes.txt",
    "means/old/part-00000-of-00001.avro",
    "calls/traces.avro",
    "part-00000-of-00001.avro",
    "manifest.json/inside",
    "deep/er/file",
)


def fill(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("name", "remedy"),
    [*((name, ", or --overwrite") for name in OURS), *((name, r"\.$") for name in FOREIGN)],
)
def test_refuses_a_folder_with_any_file(name, remedy, tmp_path):
    fill(tmp_path, name)
    with pytest.raises(UsageError, match=rf"is not empty .*; give another folder{remedy}"):
        prepare(str(tmp_path), False, RUN_OUTPUTS)
    assert files(tmp_path) == [name]


@pytest.mark.parametrize("end", ["", "/"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_accepts_a_new_or_empty_folder(overwrite, end, tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("empty", "new", "a/new/one", "with space"):
        prepare(f"{tmp_path / name}{end}", overwrite, RUN_OUTPUTS)
        assert files(tmp_path / name) == []


def test_overwrite_removes_earlier_outputs_when_publishing(tmp_path):
    fill(tmp_path, *OURS)
    prepare(f"{tmp_path}/", True, RUN_OUTPUTS)
    finished = [name for name in OURS if not name.startswith(".unfinished")]
    assert files(tmp_path) == sorted(finished)
    publish(f"{tmp_path}/", [], RUN_OUTPUTS)
    assert files(tmp_path) == ["manifest.json"]  # which is replaced last


def test_publishing_keeps_files_that_others_added_during_the_run(tmp_path):
    fill(tmp_path, *(name for name in OURS if "/" in name))
    notes = ["notes.txt", "means/notes.txt", "rejected/old/notes.txt"]
    fill(tmp_path, *notes)
    publish(str(tmp_path), ["means/part-00000-of-00001.avro"], RUN_OUTPUTS)
    kept = [name for name in files(tmp_path) if not name.startswith(".unfinished/")]
    assert kept == sorted([*notes, "means/part-00000-of-00001.avro"])


@pytest.mark.parametrize("name", FOREIGN)
def test_overwrite_refuses_a_folder_with_foreign_files(name, tmp_path):
    ours = [our for our in OURS if our != name.split("/")[0]]
    fill(tmp_path, *ours, name)
    with pytest.raises(UsageError, match="which no run of goodgain wrote") as error:
        prepare(str(tmp_path), True, RUN_OUTPUTS)
    assert name in str(error.value)
    assert files(tmp_path) == sorted([*ours, name])


KINDS = {
    "the outputs of a run": (RUN_OUTPUTS, "means/part-00000-of-00001.avro", "manifest.json"),
    "the outputs of a comparison": (COMPARISON_OUTPUTS, "arms/part-00000-of-00001.parquet"),
    "the outputs of a stream": (
        STREAM_OUTPUTS,
        f"means/{Pane(0, 0, 1, 3, '9f').file_name('.jsonl')}",
        f"late/{Pane(None, 0, 1, 0, '0').file_name('.avro')}",
        "engine.log",
    ),
}


@pytest.mark.parametrize("held", KINDS)
@pytest.mark.parametrize("written", KINDS)
def test_overwrite_replaces_only_outputs_of_the_same_kind(written, held, tmp_path):
    """Those of another kind are the wrong folder, and a stream's cannot always be had again."""
    kind, (_, *names) = KINDS[written][0], KINDS[held]
    fill(tmp_path, *names)
    if written == held:
        prepare(str(tmp_path), True, kind)
        return
    with pytest.raises(UsageError, match=f"holds {held}, which {kind.name} does not replace; "):
        prepare(str(tmp_path), True, kind)
    assert files(tmp_path) == sorted(names)
    with pytest.raises(UsageError, match=r"; give another folder\.$"):
        prepare(str(tmp_path), False, kind)


@pytest.mark.parametrize("name", FOREIGN)
def test_no_kind_writes_foreign_files(name):
    assert kind_of(name) is None


def test_overwrite_clears_only_the_relative_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "out", *OURS)
    fill(tmp_path / "out2", *FOREIGN)
    for folder in ("out", "./out", "out/../out"):
        fill(tmp_path / "out", "manifest.json")
        prepare(folder, True, RUN_OUTPUTS)
        clear(folder)
        assert files(tmp_path / "out") == []
    assert len(files(tmp_path / "out2")) == len(FOREIGN) - ("manifest.json" in FOREIGN)


@pytest.mark.parametrize("name", ["out[1]", "out*", "o?t"])
def test_refuses_a_name_that_looks_like_a_pattern(name, tmp_path):
    """Beam's filesystems would match, and so delete, the folder beside it."""
    fill(tmp_path / "out1", *OURS)
    with pytest.raises(UsageError, match="must not have"):
        prepare(str(tmp_path / name), True, RUN_OUTPUTS)
    assert files(tmp_path / "out1") == sorted(OURS)


@pytest.mark.parametrize("path", ["file", "file/inside"])
def test_reports_a_path_that_cannot_be_a_folder(path, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="cannot be written to") as error:
        prepare(str(tmp_path / path), True, RUN_OUTPUTS)
    assert str(tmp_path / path) in str(error.value)
    assert "\n" not in str(error.value)
    assert (tmp_path / "file").read_text() == "mine"


def test_reports_an_unknown_filesystem():
    with pytest.raises(UsageError, match="nowhere://bucket/out cannot be listed") as error:
        prepare("nowhere://bucket/out", False, RUN_OUTPUTS)
    assert "\n" not in str(error.value)


def test_publishing_moves_files(tmp_path):
    fill(tmp_path, ".unfinished/means/part-00000-of-00001.avro", ".unfinished/summary.json")
    publish(str(tmp_path), ["means/part-00000-of-00001.avro"], RUN_OUTPUTS)
    assert files(tmp_path) == [".unfinished/summary.json", "means/part-00000-of-00001.avro"]
    discard_unfinished(str(tmp_path))
    assert not (tmp_path / ".unfinished").exists()


def test_publishing_replaces_an_earlier_run_file_by_file(tmp_path):
    fill(tmp_path, *OURS)
    names = ["late/part-00000-of-00001.avro", "means/part-00000-of-00001.avro"]
    for name in names:
        fill(tmp_path / ".unfinished", name)
        (tmp_path / ".unfinished" / name).write_text("new")
    publish(str(tmp_path), names, RUN_OUTPUTS)
    assert files(tmp_path) == [".unfinished/summary.json", *names[:1], "manifest.json", *names[1:]]
    assert {(tmp_path / name).read_text() for name in names} == {"new"}
    publish(str(tmp_path), names, RUN_OUTPUTS)  # as when an engine retries a step
    assert files(tmp_path) == [".unfinished/summary.json", *names[:1], "manifest.json", *names[1:]]
    assert {(tmp_path / name).read_text() for name in names} == {"new"}


def test_a_file_that_cannot_be_replaced_is_kept(tmp_path, monkeypatch):
    def refusing(source, path):
        raise PermissionError(path)

    monkeypatch.setattr(os, "replace", refusing)
    name = "means/part-00000-of-00001.avro"
    fill(tmp_path, name, f".unfinished/{name}")
    before = (tmp_path / name).read_text()
    with pytest.raises(OSError, match=name):
        filesystems.move(str(tmp_path / ".unfinished" / name), str(tmp_path / name))
    assert (tmp_path / name).read_text() == before


def test_publishing_a_missing_file_raises(tmp_path):
    name = "means/part-00000-of-00001.avro"
    fill(tmp_path, ".unfinished/summary.json")
    with pytest.raises(GoodGainError, match="cannot be moved"):
        publish(str(tmp_path), [name], RUN_OUTPUTS)
    with pytest.raises(GoodGainError, match="is missing"):
        check_written(str(tmp_path), [name])
    fill(tmp_path, f".unfinished/{name}")
    check_written(str(tmp_path), [name])


def test_write_file_replaces_all_or_nothing(tmp_path, monkeypatch):
    write_file(str(tmp_path), "manifest.json", b"old")

    def failing(*_):
        raise OSError("the disk is gone")

    with monkeypatch.context() as context:
        context.setattr(os, "replace", failing)
        with pytest.raises(OSError, match="disk is gone"):
            write_file(str(tmp_path), "manifest.json", b"new")
    assert files(tmp_path) == ["manifest.json"]
    assert (tmp_path / "manifest.json").read_bytes() == b"old"
    write_file(str(tmp_path), "manifest.json", b"new")
    assert (tmp_path / "manifest.json").read_bytes() == b"new"
    assert files(tmp_path) == ["manifest.json"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (None, "no output of a run in .*, which is empty or missing"),
        (KINDS["the outputs of a stream"][1], "holds the outputs of a stream, .*`goodgain run "),
        (".unfinished/claim", "the run that writes there has not finished, or failed"),
        ("notes.txt", "not the output of a finished run"),
        ("extension/manifest.json", "not the output of a finished run"),
    ],
)
def test_rejects_a_folder_without_a_manifest(name, message, tmp_path):
    fill(tmp_path, *([name] if name else []))
    with pytest.raises(UsageError, match=message):
        read_manifest(str(tmp_path))


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("date=2025-03-03", r"holds some: give one, like .*/date=2025-03-03\.$"),
        (".unfinished/a1b2", "the run that writes there has not finished, or failed"),
    ],
)
def test_rejects_a_folder_that_holds_a_run(inside, message, tmp_path):
    fill(tmp_path, f"{inside}/manifest.json", f"{inside}/means/part-00000-of-00001.parquet")
    with pytest.raises(UsageError, match=message):
        read_manifest(str(tmp_path))


def test_traces_are_no_output_of_a_run(tmp_path):
    fill(tmp_path, "traces.jsonl")
    with pytest.raises(UsageError, match=r"is a file, .*`goodgain run --input FILES --output DIR`"):
        read_manifest(str(tmp_path / "traces.jsonl"))
