"""Streams that are planned but not run."""

import pytest

from goodgain.pipeline.run.engines import engine_checks
from goodgain.pipeline.run.stream import prism
from goodgain.pipeline.run.stream.run import stream
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.stream_config import StreamConfig


@pytest.fixture
def start_stream(tmp_path, monkeypatch):
    """Start `goodgain stream` with options; `run` gets its plan instead of Prism."""
    (tmp_path / "in").mkdir()
    (tmp_path / "prism").touch()
    monkeypatch.setattr(engine_checks, "BUILT_PRISM", tmp_path / "prism")

    def start(run, **options):
        monkeypatch.setattr(prism, "run", lambda plan, *_: run(plan))
        paths = {"input": str(tmp_path / "in"), "output": str(tmp_path / "out")}
        config = load_config(StreamConfig, {**paths, **options})
        stream(config, [])
        return config

    return start


@pytest.fixture
def plan_of(start_stream):
    """The plan of `goodgain stream` with options."""

    def plan(**options):
        plans = []
        start_stream(plans.append, **options)
        return plans[0]

    return plan
