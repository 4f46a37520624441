from datetime import date

import pytest

from goodgain.pipeline.results.manifest_counts import FileOfRun
from goodgain.pipeline.studies.nightly.days.days import LateFiles, find_late_files
from goodgain.transforms.core.files.shard import InputFile

DAY = date(2025, 3, 4)
INPUTS = (FileOfRun("a", 1), FileOfRun("b", 2))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([("a", 1), ("b", 2)], None),
        ([("a", 1)], None),  # traces are deleted after their retention period
        ([("a", 1), ("b", 2), ("c", 0)], LateFiles(DAY, ("c",), ())),
        ([("a", 5), ("b", 2)], LateFiles(DAY, (), ("a",))),
        ([("a", 0), ("c", 1)], LateFiles(DAY, ("c",), ("a",))),
    ],
)
def test_added_and_changed_files_are_late(found, expected):
    assert find_late_files(DAY, INPUTS, [InputFile(*file) for file in found]) == expected


def test_text_names_the_first_files():
    late = LateFiles(DAY, ("a", "b", "c", "d"), ("e",))
    assert str(late) == "2025-03-04: 4 added (a, b, c, ...), 1 changed (e)"


def test_relative_and_absolute_paths_name_the_same_file(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # engines with remote workers list absolute paths
    inputs = [FileOfRun(str(tmp_path / "a"), 1)]
    assert find_late_files(DAY, inputs, [InputFile("a", 1)]) is None
    assert find_late_files(DAY, inputs, [InputFile("a", 2)]).changed == ("a",)
