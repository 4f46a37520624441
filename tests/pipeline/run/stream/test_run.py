"""`stream`: the progress that it records, the plan that it passes on, and its warnings."""

import json
import pickle

import pytest

from goodgain.pipeline.run.stream.checkpoint import (
    open_state_folder,
    read_progress,
    record_progress,
)
from goodgain.pipeline.run.stream.resume import needed_span
from goodgain.pipeline.run.stream.run import warn_of_names
from goodgain.pipeline.run.stream.stopping import THIS_PROCESS
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.streaming.journal import Move
from goodgain.transforms.core.streaming.watermark import WatermarkState
from goodgain.transforms.sources.journal_file import JournalFile
from tests.core.direct import scoring
from tests.pipeline.run.stream.rows import MINUTE, NOON


@pytest.fixture(autouse=True)
def _no_draining_afterwards():
    yield
    THIS_PROCESS.reset()


def test_progress_of_a_stream_stopped_while_it_reads_again_is_what_it_has_read(
    tmp_path, start_stream
):
    """The journal was at noon when the stream was killed, but not all of that is in files yet."""
    state_folder = open_state_folder(str(tmp_path / "out"))
    JournalFile(str(state_folder)).append(Move(WatermarkState(NOON)))
    record_progress(state_folder, NOON - 100 * MINUTE)
    ends_at = NOON - 90 * MINUTE
    start_stream(lambda _: THIS_PROCESS.begin_draining(ends_at))
    assert read_progress(state_folder) == ends_at


def test_limits_for_open_conversations_are_passed_on(plan_of):
    closing = plan_of(max_open="2h", max_open_results=7, max_open_bytes=900).closing
    assert closing.max_open == 120 * MINUTE
    assert (closing.most_results, closing.most_bytes) == (7, 900)


def test_progress_decides_what_is_removed_from_the_journal(start_stream):
    plans = []
    config = start_stream(plans.append)
    source = plans[0].source
    assert source.source.keep_ms == 0  # Prism restores no checkpoints
    assert source.needed(NOON) is None
    record_progress(open_state_folder(config.output), NOON - MINUTE)
    assert source.needed(NOON) == NOON - MINUTE - needed_span(config)
    assert pickle.loads(pickle.dumps(source.needed))(NOON) == source.needed(NOON)


def test_unknown_fields_are_named_when_a_stream_starts(tmp_path, capsys):
    record = {"conversation_id": "c", "iteration": 1, "results": [{"relevance": 3}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n")
    (tmp_path / "_b.jsonl").write_text('{"elsewhere": 1}\n')
    config = StreamConfig(input=str(tmp_path), output="-")
    warn_of_names(config, scoring())
    warning = capsys.readouterr().err
    assert "results[].relevance (gain?)" in warning
    assert "elsewhere" not in warning
    warn_of_names(config.model_copy(update={"mapping": ("gain=relevance",)}), scoring())
    assert capsys.readouterr().err == ""
