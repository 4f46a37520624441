"""Files on local disks, handled without Beam, as Beam's filesystems would."""

import os

import pytest
from apache_beam.io.filesystem import FileMetadata
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.finished_run import read_dataset, read_manifest
from goodgain.pipeline.results.folder import (
    check_claim,
    check_written,
    claim,
    discard_unfinished,
    unfinished_folder,
    write_manifest,
)
from goodgain.pipeline.results.output_kinds import RUN_OUTPUTS
from goodgain.pipeline.results.replacement import clear, prepare, publish
from goodgain.transforms import file_listing, filesystems
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.shard import InputFile

ELSEWHERE = "elsewhere://"
FILES = ("a", "means/part-00000.avro", "means/part-1.jsonl", "means/old/part-2.avro", ".x/.part-3")


@pytest.fixture
def folder(tmp_path):
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "means" / "part-folder.avro").mkdir()
    (tmp_path / "means" / "part-dangling.avro").symlink_to("nowhere")
    return tmp_path


@pytest.mark.parametrize(
    "path", ["out", "/out", "./a://b", "", "C:/out", "1gs://x", "gs:/x", "gs://x/y", "s3+b://x"]
)
def test_a_path_is_local_if_beam_finds_no_scheme(path):
    assert filesystems.is_local(path) == (FileSystems.get_scheme(path) is None)


@pytest.mark.parametrize("end", ["", "/"])
def test_lists_the_same_files_as_beam(folder, end):
    def by_beam(pattern):
        (match,) = FileSystems.match([FileSystems.join(f"{folder}{end}", pattern)])
        return sorted(metadata.path for metadata in match.metadata_list)

    found = sorted(file_listing.list_files_below(f"{folder}{end}"))
    assert found == sorted(str(folder / name) for name in FILES) == by_beam("**")
    named = file_listing.find_files_named(
        filesystems.join(f"{folder}{end}", "means"), "part-*.avro"
    )
    assert named == [str(folder / "means" / "part-00000.avro")] == by_beam("means/part-*.avro")
    assert file_listing.list_files_below(str(folder / "none")) == []
    assert file_listing.find_files_named(str(folder / "none"), "*") == []
    assert file_listing.find_matching(f"{folder}/*") == [InputFile(str(folder / "a"), 1)]


@pytest.mark.parametrize(
    "pattern", ["*", "a", "means/", "means/part-*", "m*/part-?.jsonl", "**", "**/*.avro"]
)
def test_a_pattern_finds_the_same_files_here_and_elsewhere(folder, pattern):
    found = file_listing.find_files(f"{folder}/{pattern}")
    beyond = file_listing.find_files(f"{ELSEWHERE}{folder}/{pattern}")
    assert found
    assert [file.path for file in found] == [file.path.removeprefix(ELSEWHERE) for file in beyond]
    assert [file.size for file in found] == [os.path.getsize(file.path) for file in found]


def test_a_folder_stands_for_the_visible_files_directly_in_it(folder):
    (folder / "_done").write_text("")
    (folder / ".crc").write_text("")
    assert [file.path for file in file_listing.find_files(str(folder))] == [str(folder / "a")]
    assert file_listing.find_files(str(folder / "none")) == []
    named = folder / "b[1]*"
    named.write_text("")
    assert file_listing.find_files(str(named)) == [InputFile(str(named), 0)]


def test_a_folder_is_no_pattern(tmp_path):
    place = tmp_path / "out[1]*"
    place.mkdir()
    (place / "part-0").write_text("")
    assert file_listing.list_files_below(str(place)) == [str(place / "part-0")]
    assert file_listing.find_files_named(str(place), "part-*") == [str(place / "part-0")]


def test_moving_again_does_nothing(tmp_path):
    source, place = str(tmp_path / "new" / "a"), str(tmp_path / "b")
    with filesystems.create(source) as file:
        file.write(b"1")
    filesystems.move(source, place)
    filesystems.move(source, place)
    with filesystems.open_plain(place) as file:
        assert file.read() == b"1"
    with pytest.raises(OSError, match="No such file"):
        filesystems.move(source, str(tmp_path / "c"))


def test_deletes_links_but_not_what_they_name(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept").write_text("")
    (folder / "link").symlink_to(elsewhere)
    filesystems.delete(str(folder / "link") + "/")
    filesystems.delete(str(folder / "means"))
    filesystems.delete(str(folder / "none"))
    assert sorted(os.listdir(folder)) == [".x", "a"]
    assert (elsewhere / "kept").exists()


class ElsewhereFileSystem(LocalFileSystem):
    """Beam's local filesystem under a scheme: elsewhere:///tmp/a is /tmp/a."""

    @classmethod
    def scheme(cls):
        return "elsewhere"

    def _list(self, folder):
        for found in super()._list(folder.removeprefix(ELSEWHERE)):
            yield FileMetadata(ELSEWHERE + found.path, found.size_in_bytes)

    def metadata(self, path):
        found = super().metadata(path.removeprefix(ELSEWHERE))
        return FileMetadata(path, found.size_in_bytes)

    def _path_open(self, path, *more):
        return super()._path_open(path.removeprefix(ELSEWHERE), *more)

    def create(self, path, **more):
        return super().create(path.removeprefix(ELSEWHERE), **more)

    def mkdirs(self, path):
        super().mkdirs(path.removeprefix(ELSEWHERE))

    def rename(self, sources, places):
        super().rename(
            *([path.removeprefix(ELSEWHERE) for path in some] for some in (sources, places))
        )

    def exists(self, path):
        return super().exists(path.removeprefix(ELSEWHERE))

    def delete(self, paths):
        super().delete([path.removeprefix(ELSEWHERE) for path in paths])


def test_files_are_replaced_even_if_rename_does_not(tmp_path, monkeypatch):
    """HDFS renames no file over another."""
    rename = os.rename

    def refusing(source, path):
        if os.path.exists(path):
            raise FileExistsError(path)
        rename(source, path)

    monkeypatch.setattr(os, "rename", refusing)
    (tmp_path / "new").write_text("new")
    (tmp_path / "old").write_text("old")
    filesystems.move(f"{ELSEWHERE}{tmp_path}/new", f"{ELSEWHERE}{tmp_path}/old")
    assert (tmp_path / "old").read_text() == "new"
    assert not (tmp_path / "new").exists()


def test_a_run_is_published_and_read_elsewhere(tmp_path):
    out = f"{ELSEWHERE}{tmp_path}/out"
    prepare(out, False, RUN_OUTPUTS)
    claim(out, "own")
    name = "late/part-00000-of-00001.jsonl"
    with filesystems.create(filesystems.join(unfinished_folder(out, "own"), name)) as file:
        file.write(b'{"n": 1}\n')
    check_claim(out, "own")
    check_written(out, [name], "own")
    publish(out, [name], RUN_OUTPUTS, "own")
    discard_unfinished(out, "own")
    write_manifest(out, {"datasets": {"late": 1}})
    assert read_manifest(out) == {"datasets": {"late": 1}}
    assert list(read_dataset(out, "late")) == [{"n": 1}]
    assert sorted(file_listing.list_files_below(out)) == [f"{out}/{name}", f"{out}/manifest.json"]
    assert file_listing.find_files_named(f"{out}/late", "part-*") == [f"{out}/{name}"]
    clear(out)
    assert file_listing.list_files_below(str(tmp_path)) == []


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "nowhere://x/base", "nowhere://x/candidate"],
        ["run", "--input", "configs/data/sample.avro", "--output", "nowhere://x/out"],
        ["report", "nowhere://x/out"],
    ],
    ids=lambda words: words[0],
)
def test_an_unknown_filesystem_is_one_line_on_stderr(words, capsys):
    assert main(words) in (1, 2)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "nowhere://x/" in printed.err
    assert printed.err.count("\n") == 1


def test_a_named_pipe_is_refused_before_anything_waits_for_its_writer(tmp_path):
    pipe = str(tmp_path / "a.jsonl")
    os.mkfifo(pipe)
    for pattern in (pipe, str(tmp_path), str(tmp_path / "*.jsonl")):
        with pytest.raises(UsageError, match=r"a\.jsonl is a pipe, where a file is needed"):
            file_listing.find_files(pattern)
