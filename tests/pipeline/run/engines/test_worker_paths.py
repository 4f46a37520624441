"""Relative paths become absolute for workers that may run in another folder."""

import os

import pytest

from goodgain.pipeline.run.engines import engine_checks, runners
from goodgain.pipeline.run.engines.worker_paths import for_workers
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.errors import UsageError

RELATIVE = RunConfig(
    input=("traces/*.avro", "gs://bucket/a.avro"),
    output="out",
    qrels="labels",
    outcomes="judged.csv",
)
FLINK = ["--job_endpoint=localhost:1", "--environment_type"]


@pytest.fixture(autouse=True)
def _answering_job_server(monkeypatch):
    monkeypatch.setattr(engine_checks, "_answers", lambda host, port: True)


@pytest.mark.parametrize(
    ("runner", "options"),
    [
        ("FnApiRunner", ["--direct_running_mode=multi_processing"]),
        ("PrismRunner", ["--job_endpoint=localhost:1"]),
        ("PortableRunner", ["--job_endpoint=embed"]),
        ("FlinkRunner", [*FLINK, "LOOPBACK"]),
    ],
)
def test_paths_stay_relative_if_workers_share_the_folder(runner, options):
    assert for_workers(RELATIVE, *runners.create(runner, options)) == RELATIVE


def test_paths_become_absolute_for_external_workers():
    found = for_workers(RELATIVE, *runners.create("FlinkRunner", [*FLINK, "EXTERNAL"]))
    assert found.input == (os.path.abspath("traces/*.avro"), "gs://bucket/a.avro")
    assert found.output == os.path.abspath("out")
    assert found.qrels == os.path.abspath("labels")
    assert found.outcomes == os.path.abspath("judged.csv")


@pytest.mark.parametrize("source", ["kafka://host:9092/topic", "incoming"])
def test_paths_of_a_stream_become_absolute_too(source):
    config = StreamConfig(input=source, output="out", outcomes="judged.csv")
    found = for_workers(config, *runners.create("FlinkRunner", [*FLINK, "EXTERNAL"], True))
    assert found.input == (source if "://" in source else os.path.abspath(source))
    assert found.outcomes == os.path.abspath("judged.csv")
    assert found.output == os.path.abspath("out")


def test_rejects_a_local_path_for_dataflow():
    class DataflowRunner:  # a fake, since packages of Beam's may not be installed
        pass

    _, options = runners.create("FnApiRunner", [])
    with pytest.raises(UsageError, match=r"--input traces/\*.avro is on this machine"):
        for_workers(RELATIVE, DataflowRunner(), options)
