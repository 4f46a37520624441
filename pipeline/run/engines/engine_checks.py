"""Checks the options of an engine before Beam sees them, and sets those that it must have."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import grpc
from apache_beam.options.pipeline_options import (
    DirectOptions,
    FlinkRunnerOptions,
    PipelineOptions,
    PortableOptions,
    PrismRunnerOptions,
    SparkRunnerOptions,
)

from goodgain.pipeline.run.engines.prism_build import BUILT_PRISM
from goodgain.pipeline.run.engines.table import FN_API
from goodgain.transforms.core.errors import UsageError

_CONNECTION_SECONDS = 10
_EMBEDDED = "embed"  # the job endpoint of Beam's own server in this process


def _prepare_prism(options: PipelineOptions, _: bool) -> None:
    """Point Beam at the built Prism: without a path it would download one."""
    prism = options.view_as(PrismRunnerOptions)
    location = prism.prism_location
    if location and "://" not in location and not Path(location).is_file():
        raise UsageError(f"No Prism at {location}; check --prism_location.")
    endpoint = options.view_as(PortableOptions).job_endpoint
    if endpoint and endpoint != _EMBEDDED:
        _check_job_server(options)
    if location or endpoint:
        return
    if not BUILT_PRISM.is_file():
        raise UsageError(
            "Streams on one machine run on Prism, Beam's local engine, which is not built yet: run "
            "`goodgain prism` once (needs Go), or set --prism_location to the path of a Prism, or "
            "to a release that Beam may download."
        )
    prism.prism_location = str(BUILT_PRISM)


def _check_local(options: PipelineOptions, _: bool) -> None:
    """Refuse several workers, which are slower than one."""
    direct = options.view_as(DirectOptions)
    mode = direct.direct_running_mode
    if mode != "in_memory" and direct.direct_num_workers != 1:
        raise UsageError(
            f"--direct_running_mode={mode} is slower than one worker and holds more in memory: "
            "leave it out, or use --runner FlinkRunner or SparkRunner."
        )


def _check_flink(options: PipelineOptions, streaming: bool) -> None:
    _check_cluster("flink", options.view_as(FlinkRunnerOptions).flink_job_server_jar, options)
    given_options = options.get_all_options(drop_default=True, retain_unknown_options=True)
    if streaming and "shutdown_sources_after_idle_ms" in given_options:
        raise UsageError(
            "--shutdown_sources_after_idle_ms cannot be used in a stream: no checkpoint would ever "
            "complete. Leave it out, and end the stream by a savepoint."
        )
    if streaming and int(given_options.get("checkpointing_interval", 0)) <= 0:
        raise UsageError(
            "A stream needs checkpoints, at which its files are published: give "
            "--checkpointing_interval in milliseconds, above 0, or leave it out."
        )


def _check_spark(options: PipelineOptions, _: bool) -> None:
    _check_cluster("spark", options.view_as(SparkRunnerOptions).spark_job_server_jar, options)


def _check_cluster(name: str, jar: str | None, options: PipelineOptions) -> None:
    """Require a job server and a place for Python workers; Beam would download both."""
    endpoint = options.view_as(PortableOptions).job_endpoint
    runner = f"{name.title()}Runner"
    if not (endpoint or jar):
        raise UsageError(
            f"{runner} needs a job server, which Beam would download: give --job_endpoint "
            f"HOST:PORT of one that runs (`make {name}` starts one) or --{name}_job_server_jar "
            "FILE."
        )
    _check_workers(runner, options)
    if endpoint:
        _check_job_server(options)


def _check_portable(options: PipelineOptions, streaming: bool) -> None:
    portable = options.view_as(PortableOptions)
    if not portable.job_endpoint:
        raise UsageError(
            "PortableRunner needs --job_endpoint: HOST:PORT of a job server, or "
            f"{_EMBEDDED} for one in this process."
        )
    if portable.job_endpoint != _EMBEDDED:
        _check_workers("PortableRunner", options)
        _check_job_server(options)
    elif streaming:
        raise UsageError(
            f"--job_endpoint={_EMBEDDED} cannot run a stream: {FN_API.cannot_stream}. Use "
            "--runner PrismRunner."
        )
    elif not portable.environment_type:
        portable.environment_type = "LOOPBACK"  # in this process, as the server is


def _check_job_server(options: PipelineOptions) -> None:
    """Make sure that a job server answers; Beam itself would wait for a year."""
    endpoint = options.view_as(PortableOptions).job_endpoint or ""
    check_server("job server", "--job_endpoint", endpoint)


def check_server(what: str, option: str, endpoint: str) -> None:
    """Make sure that a gRPC server answers at the `HOST:PORT` of an option.

    Raises:
      UsageError: none does, or it is not HOST:PORT.
    """
    host, _, port = endpoint.rpartition(":")
    try:
        if not _answers(host, int(port)):
            raise UsageError(f"No {what} answers at {option} {endpoint}.")
    except ValueError:
        raise UsageError(f"{option} must be HOST:PORT, not {endpoint!r}.") from None


def _answers(host: str, port: int) -> bool:
    try:  # notices a refusing port sooner than gRPC does
        socket.create_connection((host, port), timeout=_CONNECTION_SECONDS).close()
        with grpc.insecure_channel(f"{host}:{port}") as channel:  # something else may listen there
            grpc.channel_ready_future(channel).result(timeout=_CONNECTION_SECONDS)
    except (OSError, OverflowError, grpc.FutureTimeoutError):
        return False
    return True


def _check_workers(runner: str, options: PipelineOptions) -> None:
    if not options.view_as(PortableOptions).environment_type:
        raise UsageError(
            f"{runner} needs to know where its Python workers are, or it would download a "
            "container: give --environment_type EXTERNAL --environment_config HOST:PORT of a "
            "worker pool, or LOOPBACK for this process, or DOCKER."
        )


def _check_dataflow(_: PipelineOptions, __: bool) -> None:
    try:
        import apache_beam.runners.dataflow.dataflow_runner
        import apache_beam.runners.dataflow.internal.apiclient  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"DataflowRunner needs packages that are not installed ({error}); install them with "
            "`pip install 'goodgain[gcp]'`."
        ) from None


ENGINE_CHECKS: dict[str, Callable[[PipelineOptions, bool], None]] = {
    "": _check_local,
    "PrismRunner": _prepare_prism,
    "FlinkRunner": _check_flink,
    "SparkRunner": _check_spark,
    "PortableRunner": _check_portable,
    "DataflowRunner": _check_dataflow,
}
