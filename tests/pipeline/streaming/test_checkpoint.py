from datetime import UTC, datetime

import pytest

from goodgain.pipeline.streaming.checkpoint import (
    KEPT,
    kept_folder,
    next_start,
    note_progress,
    note_start,
    read_progress,
)
from goodgain.pipeline.streaming.config import StreamConfig, usual_meaning
from goodgain.transforms.core.errors import GoodGainError, UsageError

NOW = datetime(2025, 3, 3, tzinfo=UTC)
USUAL = {"gap": "30m", "live": False}
OPTIONS = {"gap": "30m", "live": True}


def begin(folder, options=OPTIONS):
    start = next_start(folder, options, USUAL, NOW)
    note_start(folder, start)
    return start.number


def test_starts_are_counted(tmp_path):
    kept = kept_folder(str(tmp_path / "out"))
    assert [begin(kept) for _ in range(3)] == [1, 2, 3]


def test_a_start_that_was_not_noted_does_not_count(tmp_path):
    next_start(tmp_path, OPTIONS, USUAL, NOW)
    assert begin(tmp_path) == 1


def test_other_options_are_refused(tmp_path):
    begin(tmp_path)
    with pytest.raises(UsageError, match=r"started with --gap 30m, not 5m; use the same value, or"):
        begin(tmp_path, {**OPTIONS, "gap": "5m"})
    assert begin(tmp_path) == 2


def test_an_option_that_came_later_had_its_default_before(tmp_path):
    begin(tmp_path, {"gap": "30m"})
    with pytest.raises(UsageError, match="started with --live false, not true"):
        begin(tmp_path, {"gap": "30m", "live": True})
    assert begin(tmp_path, {"gap": "30m", "live": False}) == 2


def test_usual_meaning_is_that_of_every_option_left_out():
    given = StreamConfig(input="in", output="out", gap="5m")
    assert given.meaning == {**usual_meaning(), "gap": "5m"}
    assert usual_meaning()["max_open_bytes"] == 64 * 2**20


def test_damage_is_named(tmp_path):
    (tmp_path / "starts.jsonl").write_text("{")
    with pytest.raises(GoodGainError, match=r"starts\.jsonl is damaged"):
        begin(tmp_path)


def test_progress_never_goes_back(tmp_path):
    assert read_progress(tmp_path) is None
    for watermark in (5, 9, 7):
        note_progress(tmp_path, watermark)
    assert read_progress(tmp_path).watermark == 9


def test_damaged_progress_is_no_progress(tmp_path):
    (tmp_path / "progress.json").write_text("{")
    assert read_progress(tmp_path) is None


def test_a_folder_of_others_is_refused(tmp_path):
    (tmp_path / "manifest.json").touch()
    with pytest.raises(UsageError, match=r"holds manifest\.json, which no stream wrote"):
        kept_folder(str(tmp_path))
    assert not (tmp_path / KEPT).exists()


def test_a_folder_elsewhere_is_refused():
    with pytest.raises(UsageError, match="needs its output on this machine, not in gs://b/o"):
        kept_folder("gs://b/o")
