import json
from datetime import UTC, datetime

import pytest

from goodgain.pipeline.run.stream.checkpoint import (
    STATE_FOLDER,
    next_start,
    open_state_folder,
    read_progress,
    record_progress,
    record_start,
)
from goodgain.pipeline.settings.stream_config import StreamConfig, default_row_options
from goodgain.transforms.core.errors import GoodGainError, UsageError
from goodgain.transforms.core.native import active_path

NOW = datetime(2025, 3, 3, tzinfo=UTC)
DEFAULTS = {"gap": "30m", "live": False}
OPTIONS = {"gap": "30m", "live": True}
# Written before starts had `reading`.
EARLIER = '{"number":1,"options":{"gap":"30m","live":true},"started":"2025-03-03T00:00:00+00:00"}\n'


def start_stream(folder, options=OPTIONS):
    """Record the next start, and return its number."""
    start = next_start(folder, options, DEFAULTS, NOW)
    record_start(folder, start)
    return start.number


def test_starts_are_numbered_from_1(tmp_path):
    state_folder = open_state_folder(str(tmp_path / "out"))
    assert [start_stream(state_folder) for _ in range(3)] == [1, 2, 3]


def test_a_start_counts_only_once_it_is_recorded(tmp_path):
    next_start(tmp_path, OPTIONS, DEFAULTS, NOW)
    assert start_stream(tmp_path) == 1


def test_a_start_says_which_code_reads(tmp_path, monkeypatch):
    monkeypatch.setenv("GOODGAIN_NATIVE", "0")
    (tmp_path / "starts.jsonl").write_text(EARLIER)
    start_stream(tmp_path)
    monkeypatch.delenv("GOODGAIN_NATIVE")
    start_stream(tmp_path)
    first, second, third = (tmp_path / "starts.jsonl").read_text().splitlines()
    assert first + "\n" == EARLIER
    assert json.loads(second)["reading"] == "python (GOODGAIN_NATIVE=0)"
    assert json.loads(third)["reading"] == active_path()


def test_a_start_with_other_options_is_refused(tmp_path):
    start_stream(tmp_path)
    with pytest.raises(UsageError, match=r"started with --gap 30m, not 5m; use the same value, or"):
        start_stream(tmp_path, {**OPTIONS, "gap": "5m"})
    assert start_stream(tmp_path) == 2


def test_options_missing_from_an_earlier_start_had_their_defaults(tmp_path):
    start_stream(tmp_path, {"gap": "30m"})
    with pytest.raises(UsageError, match="started with --live false, not true"):
        start_stream(tmp_path, {"gap": "30m", "live": True})
    assert start_stream(tmp_path, {"gap": "30m", "live": False}) == 2


def test_usual_meaning_has_the_default_of_each_option():
    given = StreamConfig(input="in", output="out", gap="5m")
    assert given.row_options == {**default_row_options(), "gap": "5m"}
    assert default_row_options()["max_open_bytes"] == 64 * 2**20


def test_a_damaged_file_of_starts_is_reported(tmp_path):
    (tmp_path / "starts.jsonl").write_text("{")
    with pytest.raises(GoodGainError, match=r"starts\.jsonl is damaged"):
        start_stream(tmp_path)


def test_progress_keeps_the_greatest_watermark(tmp_path):
    assert read_progress(tmp_path) is None
    for watermark in (5, 9, 7):
        record_progress(tmp_path, watermark)
    assert read_progress(tmp_path) == 9


def test_damaged_progress_is_no_progress(tmp_path):
    (tmp_path / "progress.json").write_text("{")
    assert read_progress(tmp_path) is None


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "manifest.json").touch()
    with pytest.raises(UsageError, match=r"holds manifest\.json, which no stream wrote"):
        open_state_folder(str(tmp_path))
    assert not (tmp_path / STATE_FOLDER).exists()


def test_a_remote_folder_is_refused():
    with pytest.raises(UsageError, match="needs its output on this machine, not in gs://b/o"):
        open_state_folder("gs://b/o")
