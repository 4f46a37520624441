"""Creating runners by name: their options, and what is rejected before anything runs."""

import gc
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from apache_beam.options.pipeline_options import (
    DirectOptions,
    PortableOptions,
    PrismRunnerOptions,
)
from apache_beam.runners.portability.fn_api_runner import FnApiRunner, worker_handlers

from goodgain.pipeline.run.engines import engine_checks, runners
from goodgain.pipeline.run.engines.table import ENGINES
from goodgain.transforms.core.errors import UsageError


@pytest.mark.parametrize("name", ["DirectRunner", "FnApiRunner"])
def test_direct_runner_is_the_local_fn_api_runner(name, monkeypatch):
    monkeypatch.setattr(worker_handlers, "STATE_CACHE_SIZE_MB", 100)
    engine, options = runners.create(name, ["--direct_num_workers=3"])
    assert type(engine) is FnApiRunner
    assert options.view_as(DirectOptions).direct_num_workers == 3
    assert worker_handlers.STATE_CACHE_SIZE_MB == 0


@pytest.fixture(autouse=True)
def _answering_job_server(monkeypatch):
    monkeypatch.setattr(engine_checks, "_answers", lambda host, port: True)


FLINK = ("--job_endpoint=localhost:1", "--environment_type=LOOPBACK")
# Options without which the runners are rejected.
REQUIRED = {
    "PrismRunner": ("--job_endpoint=localhost:1",),
    "FlinkRunner": FLINK,
    "SparkRunner": FLINK,
}


@pytest.mark.parametrize("name", ["PrismRunner", "FlinkRunner"])
@pytest.mark.parametrize("streaming", [False, True])
def test_runners_get_the_options_of_the_table(name, streaming):
    entry = ENGINES[name]
    needed = [*entry.arguments, *(entry.stream_arguments if streaming else entry.batch_arguments)]
    for arguments in ([], needed, ["--job_name=mine"]):
        _, options = runners.create(name, [*REQUIRED[name], *arguments], streaming)
        found = options.get_all_options(retain_unknown_options=True)
        assert found["streaming"] is streaming
        for argument in needed:
            option, _, value = argument.removeprefix("--").partition("=")
            assert str(found[option]) in (value or "True", f"['{value}']")


def test_garbage_of_a_run_can_be_collected_in_the_next():
    runners.look_for_cycles_less_often()
    frozen = gc.get_freeze_count()
    garbage = [[] for _ in range(1_000)]
    runners.look_for_cycles_less_often()
    assert gc.get_freeze_count() <= frozen
    assert len(garbage) == 1_000


def test_only_the_local_engine_keeps_everything_in_memory():
    assert {name for name, engine in ENGINES.items() if engine.in_memory} == {
        "DirectRunner",
        "FnApiRunner",
    }


@pytest.mark.parametrize("mode", ["multi_threading", "multi_processing"])
@pytest.mark.parametrize("workers", ["2", "0"])  # 0: one for each core
def test_rejects_several_local_workers(mode, workers):
    mode = f"--direct_running_mode={mode}"
    with pytest.raises(UsageError, match=f"{mode} is slower than one worker"):
        runners.create("FnApiRunner", [mode, f"--direct_num_workers={workers}"])
    runners.create("FnApiRunner", [mode])  # one worker is the default


def test_rejects_dask_with_the_reason():
    with pytest.raises(UsageError, match=r"DaskRunner cannot be used: it sends .* FlinkRunner"):
        runners.create("DaskRunner", [])
    with pytest.raises(UsageError, match="is unknown") as error:
        runners.create("DascRunner", [])
    assert "DaskRunner" not in str(error.value)


def test_table_has_the_flags_that_prevent_lost_state_and_rows():
    assert "--experiments=prism_disable_sdf_split" in ENGINES["PrismRunner"].arguments
    assert "--finish_bundle_before_checkpointing" in ENGINES["FlinkRunner"].arguments


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("PrismRunner", REQUIRED["PrismRunner"]),
        ("SparkRunner", REQUIRED["SparkRunner"]),
        ("PortableRunner", ("--job_endpoint=embed",)),
    ],
)
def test_client_waits_at_least_a_year_for_a_job(name, arguments):
    """By default Beam's client fails after five minutes, and ends Prism."""
    _, options = runners.create(name, arguments)
    assert options.view_as(PortableOptions).job_server_timeout >= 365 * 24 * 3_600


def test_restarted_stream_does_not_reuse_dead_workers():
    _, options = runners.create("FlinkRunner", FLINK, streaming=True)
    assert options.view_as(PortableOptions).environment_cache_millis == 0


def test_flink_copies_no_elements_between_steps_in_batch():
    """A stream keeps its copies: its state may be in the memory of the engine."""
    for streaming in (False, True):
        _, options = runners.create("FlinkRunner", FLINK, streaming=streaming)
        given = options.get_all_options(retain_unknown_options=True)
        assert ("faster_copy" in given) is not streaming


def test_options_of_the_user_override_the_table():
    arguments = [*FLINK, "--checkpointing_interval=77"]
    _, options = runners.create("FlinkRunner", arguments, streaming=True)
    assert options.get_all_options(retain_unknown_options=True)["checkpointing_interval"] == "77"
    # Some releases of Beam reject an option that occurs twice.
    assert sum("checkpointing_interval" in flag for flag in options._flags) == 1


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("DirectRunner", []),
        ("FnApiRunner", []),
        ("PortableRunner", ["--job_endpoint=embed"]),
        ("SparkRunner", REQUIRED["SparkRunner"]),
    ],
)
def test_rejects_streams_on_runners_with_wrong_timers(name, arguments):
    with pytest.raises(UsageError, match=r"cannot run a stream.* Use --runner PrismRunner"):
        runners.create(name, arguments, streaming=True)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("FlinkRunner", [], "`make flink` starts one"),
        ("FlinkRunner", ["--flink_master=localhost:1"], "needs a job server"),
        ("FlinkRunner", ["--job_endpoint=localhost:1"], "its Python workers are"),
        ("SparkRunner", [], "`make spark` starts one"),
        ("SparkRunner", ["--job_endpoint=localhost:1"], "its Python workers are"),
        ("PortableRunner", [], "PortableRunner needs --job_endpoint"),
        ("PortableRunner", ["--job_endpoint=localhost:1"], "its Python workers are"),
        ("PrismRunner", ["--prism_location=no/such"], "No Prism at no/such"),
    ],
)
def test_rejects_options_that_make_beam_download_something(name, arguments, message):
    with pytest.raises(UsageError, match=message):
        runners.create(name, arguments)


def test_dataflow_names_its_missing_packages(monkeypatch):
    monkeypatch.setitem(sys.modules, "apache_beam.runners.dataflow.internal.apiclient", None)
    with pytest.raises(UsageError, match=r"pip install 'goodgain\[gcp\]'"):
        runners.create("DataflowRunner", [])


@pytest.mark.parametrize("listens", [False, True])
@pytest.mark.parametrize("name", ["PrismRunner", "FlinkRunner", "PortableRunner"])
def test_reports_a_job_server_that_does_not_answer(name, listens, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(engine_checks, "_CONNECTION_SECONDS", 0.2)
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        if listens:  # but never answers
            taken.listen()
        address = f"localhost:{taken.getsockname()[1]}"
        with pytest.raises(UsageError, match=f"No job server answers at --job_endpoint {address}"):
            runners.create(name, [f"--job_endpoint={address}", "--environment_type=LOOPBACK"])


@pytest.mark.parametrize("name", ["PrismRunner", "FlinkRunner", "PortableRunner"])
def test_accepts_a_job_server_that_answers(name, monkeypatch):
    monkeypatch.undo()
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("localhost:0")
    server.start()
    try:
        runners.create(name, [f"--job_endpoint=localhost:{port}", "--environment_type=LOOPBACK"])
    finally:
        server.stop(None)


@pytest.mark.parametrize("endpoint", ["localhost", "localhost:", ":x"])
def test_rejects_an_endpoint_without_a_port(endpoint):
    with pytest.raises(UsageError, match="--job_endpoint must be HOST:PORT"):
        runners.create("FlinkRunner", [f"--job_endpoint={endpoint}", "--environment_type=LOOPBACK"])


def test_rejects_sources_that_shut_down_in_a_stream():
    arguments = [*FLINK, "--shutdown_sources_after_idle_ms=1000"]
    runners.create("FlinkRunner", arguments)
    with pytest.raises(UsageError, match="no checkpoint would ever complete"):
        runners.create("FlinkRunner", arguments, streaming=True)


@pytest.mark.parametrize("interval", ["-1", "0"])
def test_a_stream_without_checkpoints_is_refused(interval):
    """None of its files would ever be published."""
    arguments = [*FLINK, f"--checkpointing_interval={interval}"]
    runners.create("FlinkRunner", arguments)
    with pytest.raises(UsageError, match="A stream needs checkpoints"):
        runners.create("FlinkRunner", arguments, streaming=True)


@pytest.mark.parametrize(
    ("argument", "goes_on"),
    [("--savepoint_path=/saved", True), ("--update", True), ("--parallelism=2", False)],
)
def test_a_job_goes_on_from_a_savepoint_or_as_an_update(argument, goes_on):
    _, options = runners.create("FlinkRunner", [*FLINK, argument], streaming=True)
    assert runners.goes_on(options) is goes_on


def test_prism_is_by_default_the_built_binary(monkeypatch, tmp_path):
    built = tmp_path / "prism"
    monkeypatch.setattr(engine_checks, "BUILT_PRISM", built)
    with pytest.raises(UsageError, match="run `goodgain prism` once"):
        runners.create("PrismRunner", [])
    built.touch()
    _, options = runners.create("PrismRunner", [])
    assert options.view_as(PrismRunnerOptions).prism_location == str(built)


def test_embedded_job_server_uses_loopback_workers():
    _, options = runners.create("PortableRunner", ["--job-endpoint=embed"])
    assert options.view_as(PortableOptions).environment_type == "LOOPBACK"


def test_experiments_of_the_user_are_kept():
    _, options = runners.create("PrismRunner", [*REQUIRED["PrismRunner"], "--experiments=mine"])
    assert set(options.get_all_options()["experiments"]) == {"mine", "prism_disable_sdf_split"}


def test_rejects_an_unknown_runner():
    with pytest.raises(UsageError, match="Runner Spork is unknown; use one of DirectRunner"):
        runners.create("Spork", [])


def test_rejects_an_unknown_option_of_the_local_runner():
    with pytest.raises(UsageError, match="--direct_num_worker is not an option"):
        runners.create("DirectRunner", ["--direct_num_worker", "2"])


def test_passes_unknown_options_to_a_remote_runner():
    _, options = runners.create("FlinkRunner", [*FLINK, "--one_more=3"])
    assert options.get_all_options(retain_unknown_options=True)["one_more"] == "3"


def test_rejects_a_value_of_the_wrong_type():
    with pytest.raises(UsageError, match="argument --direct_num_workers: invalid int value: 'x'"):
        runners.create("DirectRunner", ["--direct_num_workers=x"])
