"""`stream`: the progress that it records, the plan that it passes on, and its warnings."""

import json
import pickle

import pytest

from goodgain.pipeline.engines import runners
from goodgain.pipeline.options.config_file import load_config
from goodgain.pipeline.streaming import on_prism
from goodgain.pipeline.streaming.checkpoint import kept_folder, note_progress, read_progress
from goodgain.pipeline.streaming.config import StreamConfig
from goodgain.pipeline.streaming.resume import needed_span
from goodgain.pipeline.streaming.run import stream, warn_of_names
from goodgain.pipeline.streaming.stopping import THIS_PROCESS
from goodgain.transforms.core.streaming.journal import Move
from goodgain.transforms.core.streaming.watermark import WatermarkState
from goodgain.transforms.sources.journal_file import JournalFile
from tests.core.direct import scoring
from tests.pipeline.streaming.rows import MINUTE, NOON


@pytest.fixture(autouse=True)
def _no_draining_afterwards():
    yield
    THIS_PROCESS.reset()


def test_progress_of_a_stream_stopped_while_it_reads_again_is_what_it_has_read(
    tmp_path, monkeypatch
):
    """The journal was at noon when the stream was killed, but not all of that is in files yet."""
    (tmp_path / "in").mkdir()
    (tmp_path / "prism").touch()
    monkeypatch.setattr(runners, "BUILT_PRISM", tmp_path / "prism")
    output = str(tmp_path / "out")
    kept = kept_folder(output)
    JournalFile(str(kept)).append(Move(WatermarkState(NOON)))
    note_progress(kept, NOON - 100 * MINUTE)
    ends_at = NOON - 90 * MINUTE
    monkeypatch.setattr(on_prism, "run", lambda *_: THIS_PROCESS.begin_draining(ends_at))
    stream(load_config(StreamConfig, {"input": str(tmp_path / "in"), "output": output}), [])
    assert read_progress(kept).watermark == ends_at


def test_limits_for_open_conversations_are_passed_on(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "prism").touch()
    monkeypatch.setattr(runners, "BUILT_PRISM", tmp_path / "prism")
    plans = []
    monkeypatch.setattr(on_prism, "run", lambda plan, *_: plans.append(plan))
    limits = {"max_open": "2h", "max_open_results": 7, "max_open_bytes": 900}
    paths = {"input": str(tmp_path / "in"), "output": str(tmp_path / "out")}
    stream(load_config(StreamConfig, {**paths, **limits}), [])
    (plan,) = plans
    assert plan.closing.max_open == 120 * MINUTE
    assert (plan.closing.most_results, plan.closing.most_bytes) == (7, 900)


def test_progress_decides_what_is_cut_from_the_journal(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "prism").touch()
    monkeypatch.setattr(runners, "BUILT_PRISM", tmp_path / "prism")
    plans = []
    monkeypatch.setattr(on_prism, "run", lambda plan, *_: plans.append(plan))
    output = str(tmp_path / "out")
    config = load_config(StreamConfig, {"input": str(tmp_path / "in"), "output": output})
    stream(config, [])
    (plan,) = plans
    assert plan.source.source.keep_ms == 0  # Prism restores no checkpoints
    assert plan.source.needed(NOON) is None
    note_progress(kept_folder(output), NOON - MINUTE)
    assert plan.source.needed(NOON) == NOON - MINUTE - needed_span(config)
    assert pickle.loads(pickle.dumps(plan.source.needed))(NOON) == plan.source.needed(NOON)


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
