"""Which local files a pattern or a folder means."""

import os

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.inputs.local_files import find_local_files, read_files
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.read import find_inputs
from tests.pipeline.runs import SAMPLE, call


def test_finds_each_file_once_and_in_order(traces, tmp_path):
    traces(name="b.jsonl")
    traces(name="a.jsonl")
    found = find_local_files(
        [f"{tmp_path}/*.jsonl", f"{tmp_path}/a.jsonl", f"file://{tmp_path}/b*"]
    )
    assert [os.path.basename(file.path) for file in found] == ["a.jsonl", "b.jsonl"]


def test_two_stars_match_nested_folders(traces, tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    traces(name="deep/er/x.jsonl")
    assert len(find_local_files([f"{tmp_path}/**/*.jsonl"])) == 1


def test_a_folder_gives_the_same_files_as_for_a_run(traces, tmp_path):
    traces(name="b.jsonl")
    traces(name="a.jsonl")
    for name in (".hidden", "_SUCCESS"):
        (tmp_path / name).write_text("")
    (tmp_path / "deeper").mkdir()
    found = [file.path for file in find_local_files([str(tmp_path)])]
    assert found == [str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]
    assert [file.path for file in find_inputs([str(tmp_path)])] == found


def test_rejects_a_folder_without_files(tmp_path):
    with pytest.raises(UsageError, match="contains no files; check the path"):
        find_local_files([str(tmp_path)])


def test_finds_a_file_whose_name_looks_like_a_pattern(traces):
    path = traces(name="day[1].jsonl")
    assert [file.path for file in find_local_files([path])] == [path]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("nothing/*.avro", "No file matches nothing/\\*.avro"),
        ("gs://bucket/x.avro", "gs://bucket/x.avro is not on this machine"),
    ],
)
def test_rejects_patterns_without_local_files(pattern, expected, capsys):
    with pytest.raises(UsageError, match=expected):
        find_local_files([SAMPLE, pattern])
    assert main(["validate", pattern]) == 2
    assert capsys.readouterr().out == ""


def test_a_file_that_disappears_is_one_rejected_record(traces):
    path = traces(call())
    found = find_local_files([path])
    os.remove(path)
    (row,) = read_files(found)
    assert isinstance(row, RejectedRecord)
    assert row.position == "file"
