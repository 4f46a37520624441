"""What each name of an engine stands for, and what is refused before anything runs."""

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

from goodgain.pipeline.engines import runners
from goodgain.transforms.core.errors import UsageError


@pytest.mark.parametrize("name", ["DirectRunner", "FnApiRunner"])
def test_the_default_is_the_engine_that_is_always_there(name, monkeypatch):
    monkeypatch.setattr(worker_handlers, "STATE_CACHE_SIZE_MB", 100)
    engine, options = runners.create(name, ["--direct_num_workers=3"])
    assert type(engine) is FnApiRunner
    assert options.view_as(DirectOptions).direct_num_workers == 3
    assert worker_handlers.STATE_CACHE_SIZE_MB == 0


@pytest.fixture(autouse=True)
def _answering_job_server(monkeypatch):
    monkeypatch.setattr(runners, "_answers", lambda host, port: True)


FLINK = ("--job_endpoint=localhost:1", "--environment_type=LOOPBACK")
# What makes the table's checks content, so that a test can look at something else.
ENOUGH = {
    "PrismRunner": ("--job_endpoint=localhost:1",),
    "FlinkRunner": FLINK,
    "SparkRunner": FLINK,
}


@pytest.mark.parametrize("name", ["PrismRunner", "FlinkRunner"])
@pytest.mark.parametrize("streaming", [False, True])
def test_an_engine_gets_the_options_of_the_table(name, streaming):
    entry = runners.ENGINES[name]
    needed = [*entry.arguments, *(entry.stream_arguments if streaming else entry.batch_arguments)]
    for given in ([], needed, ["--job_name=mine"]):
        _, options = runners.create(name, [*ENOUGH[name], *given], streaming)
        found = options.get_all_options(retain_unknown_options=True)
        assert found["streaming"] is streaming
        for argument in needed:
            option, _, value = argument.removeprefix("--").partition("=")
            assert str(found[option]) in (value or "True", f"['{value}']")


def test_what_one_run_leaves_behind_is_collected_in_the_next():
    runners.look_for_cycles_less_often()
    frozen = gc.get_freeze_count()
    left_behind = [[] for _ in range(1_000)]
    runners.look_for_cycles_less_often()
    assert gc.get_freeze_count() <= frozen
    assert len(left_behind) == 1_000


def test_only_the_local_engine_keeps_everything_in_memory():
    assert {name for name, engine in runners.ENGINES.items() if engine.in_memory} == {
        "DirectRunner",
        "FnApiRunner",
    }


@pytest.mark.parametrize("mode", ["multi_threading", "multi_processing"])
@pytest.mark.parametrize("workers", ["2", "0"])  # 0: one for each core
def test_several_workers_are_refused_since_they_lose(mode, workers):
    mode = f"--direct_running_mode={mode}"
    with pytest.raises(UsageError, match=f"{mode} is slower than one worker"):
        runners.create("FnApiRunner", [mode, f"--direct_num_workers={workers}"])
    runners.create("FnApiRunner", [mode])  # of which there is one


def test_dask_is_refused_with_the_reason():
    with pytest.raises(UsageError, match=r"DaskRunner cannot be used: it sends .* FlinkRunner"):
        runners.create("DaskRunner", [])
    with pytest.raises(UsageError, match="is unknown") as error:
        runners.create("DascRunner", [])
    assert "DaskRunner" not in str(error.value)


def test_the_flags_that_keep_state_and_rows_are_in_the_table():
    assert "--experiments=prism_disable_sdf_split" in runners.ENGINES["PrismRunner"].arguments
    assert "--finish_bundle_before_checkpointing" in runners.ENGINES["FlinkRunner"].arguments


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("PrismRunner", ENOUGH["PrismRunner"]),
        ("SparkRunner", ENOUGH["SparkRunner"]),
        ("PortableRunner", ("--job_endpoint=embed",)),
    ],
)
def test_a_job_is_watched_however_long_it_runs(name, given):
    """Beam's client would fail after five minutes, and end Prism with it."""
    _, options = runners.create(name, given)
    assert options.view_as(PortableOptions).job_server_timeout >= 365 * 24 * 3_600


def test_workers_that_died_are_not_kept_for_the_next_start_of_a_stream():
    _, options = runners.create("FlinkRunner", FLINK, streaming=True)
    assert options.view_as(PortableOptions).environment_cache_millis == 0


def test_the_user_wins_over_the_table():
    given = [*FLINK, "--checkpointing_interval=77"]
    _, options = runners.create("FlinkRunner", given, streaming=True)
    assert options.get_all_options(retain_unknown_options=True)["checkpointing_interval"] == "77"
    # Twice would be an error in some releases of Beam.
    assert sum("checkpointing_interval" in flag for flag in options._flags) == 1


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("DirectRunner", []),
        ("FnApiRunner", []),
        ("PortableRunner", ["--job_endpoint=embed"]),
        ("SparkRunner", ENOUGH["SparkRunner"]),
    ],
)
def test_a_stream_is_refused_where_its_timers_would_be_wrong(name, given):
    with pytest.raises(UsageError, match=r"cannot run a stream.* Use --runner PrismRunner"):
        runners.create(name, given, streaming=True)


@pytest.mark.parametrize(
    ("name", "given", "says"),
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
def test_what_would_be_downloaded_unasked_is_refused(name, given, says):
    with pytest.raises(UsageError, match=says):
        runners.create(name, given)


def test_dataflow_names_the_packages_it_lacks(monkeypatch):
    monkeypatch.setitem(sys.modules, "apache_beam.runners.dataflow.internal.apiclient", None)
    with pytest.raises(UsageError, match=r"pip install 'goodgain\[gcp\]'"):
        runners.create("DataflowRunner", [])


@pytest.mark.parametrize("listens", [False, True])
@pytest.mark.parametrize("name", ["PrismRunner", "FlinkRunner", "PortableRunner"])
def test_a_job_server_that_is_not_there_is_not_waited_for(name, listens, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(runners, "_CONNECTION_SECONDS", 0.2)
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        if listens:  # and says nothing that a job server says
            taken.listen()
        address = f"localhost:{taken.getsockname()[1]}"
        with pytest.raises(UsageError, match=f"No job server answers at --job_endpoint {address}"):
            runners.create(name, [f"--job_endpoint={address}", "--environment_type=LOOPBACK"])


@pytest.mark.parametrize("name", ["PrismRunner", "FlinkRunner", "PortableRunner"])
def test_a_job_server_that_answers_is_taken(name, monkeypatch):
    monkeypatch.undo()
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("localhost:0")
    server.start()
    try:
        runners.create(name, [f"--job_endpoint=localhost:{port}", "--environment_type=LOOPBACK"])
    finally:
        server.stop(None)


@pytest.mark.parametrize("endpoint", ["localhost", "localhost:", ":x"])
def test_an_endpoint_without_a_port_is_refused(endpoint):
    with pytest.raises(UsageError, match="--job_endpoint must be HOST:PORT"):
        runners.create("FlinkRunner", [f"--job_endpoint={endpoint}", "--environment_type=LOOPBACK"])


def test_a_source_that_shuts_down_is_refused_with_checkpoints():
    given = [*FLINK, "--shutdown_sources_after_idle_ms=1000"]
    runners.create("FlinkRunner", given)
    with pytest.raises(UsageError, match="no checkpoint would ever complete"):
        runners.create("FlinkRunner", given, streaming=True)


def test_prism_is_the_one_that_was_built(monkeypatch, tmp_path):
    built = tmp_path / "prism"
    monkeypatch.setattr(runners, "BUILT_PRISM", built)
    with pytest.raises(UsageError, match="run `goodgain prism` once"):
        runners.create("PrismRunner", [])
    built.touch()
    _, options = runners.create("PrismRunner", [])
    assert options.view_as(PrismRunnerOptions).prism_location == str(built)


def test_the_embedded_server_has_its_workers_in_this_process():
    _, options = runners.create("PortableRunner", ["--job-endpoint=embed"])
    assert options.view_as(PortableOptions).environment_type == "LOOPBACK"


def test_experiments_of_the_user_are_kept():
    _, options = runners.create("PrismRunner", [*ENOUGH["PrismRunner"], "--experiments=mine"])
    assert set(options.get_all_options()["experiments"]) == {"mine", "prism_disable_sdf_split"}


def test_an_unknown_engine_is_refused():
    with pytest.raises(UsageError, match="Runner Spork is unknown; use one of DirectRunner"):
        runners.create("Spork", [])


def test_an_option_that_no_engine_here_knows_is_refused():
    with pytest.raises(UsageError, match="--direct_num_worker is not an option"):
        runners.create("DirectRunner", ["--direct_num_worker", "2"])


def test_an_engine_elsewhere_may_know_more_options():
    _, options = runners.create("FlinkRunner", [*FLINK, "--one_more=3"])
    assert options.get_all_options(retain_unknown_options=True)["one_more"] == "3"


def test_a_value_of_the_wrong_kind_is_refused():
    with pytest.raises(UsageError, match="argument --direct_num_workers: invalid int value: 'x'"):
        runners.create("DirectRunner", ["--direct_num_workers=x"])
