"""Creates engines by name, with checked options, and makes paths that their workers can use."""

from __future__ import annotations

import gc
import io
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import grpc
from apache_beam.options.pipeline_options import (
    DirectOptions,
    FlinkRunnerOptions,
    GoogleCloudOptions,
    PipelineOptions,
    PortableOptions,
    PrismRunnerOptions,
    SparkRunnerOptions,
)
from apache_beam.runners.portability.fn_api_runner import FnApiRunner, worker_handlers
from apache_beam.runners.portability.prism_runner import PrismRunner
from apache_beam.runners.runner import PipelineRunner, create_runner

from goodgain.pipeline.run.engines.prism_build import BUILT_PRISM
from goodgain.pipeline.run.engines.table import ENGINES, FN_API
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.filesystems import is_local

_CONNECTION_SECONDS = 10
_REPEATABLE = {"--experiments"}
_OBJECTS_BEFORE_COLLECTION = 20_000
_PATHS = ("input", "output", "update", "qrels", "labels", "outcomes", "pool")  # options
_Config = TypeVar("_Config", bound=Settings)
_EMBEDDED = "embed"  # the job endpoint of Beam's own server in this process


def create(
    runner: str, beam_arguments: Sequence[str], streaming: bool = False, command: str = "run"
) -> tuple[PipelineRunner, PipelineOptions]:
    """The engine with a name, and the options for the pipeline.

    Args:
      runner: a name in `ENGINES`.
      beam_arguments: the user's options for the engine; they win over the table's.
      command: the command that the user gave, for messages.

    Raises:
      UsageError: the engine is unknown or cannot stream, or an option is wrong or missing.
    """
    engine = ENGINES.get(runner)
    if engine is None:
        usable = ", ".join(name for name, entry in ENGINES.items() if not entry.cannot_run)
        raise UsageError(f"Runner {runner} is unknown; use one of {usable}.")
    if engine.cannot_run:
        raise UsageError(
            f"{runner} cannot be used: {engine.cannot_run}. Use --runner FnApiRunner on one "
            "machine, FlinkRunner, SparkRunner or DataflowRunner on several."
        )
    if streaming and engine.cannot_stream:
        raise UsageError(
            f"{runner} cannot run a stream: {engine.cannot_stream}. Use --runner PrismRunner on "
            "one machine, FlinkRunner or DataflowRunner on several."
        )
    beam_arguments = [_underscored(argument) for argument in beam_arguments]
    ours = list(engine.arguments)
    ours += ["--streaming", *engine.stream_arguments] if streaming else engine.batch_arguments
    # The user's value wins. An option that Beam does not declare must not be set twice, except
    # those that may be repeated.
    users = {_name(argument) for argument in beam_arguments} - _REPEATABLE
    added = [word for word in ours if word not in beam_arguments and _name(word) not in users]
    options = PipelineOptions([*added, *beam_arguments])
    unknown = _unknown_options(options) if beam_arguments else []
    # Other engines may have options that Beam does not declare.
    if unknown and not engine.beam_name:
        raise UsageError(
            f"--{unknown[0]} is not an option of `goodgain {command}`, nor of Beam with "
            f"{runner}; see `goodgain {command} --help`."
        )
    if check := _CHECKS.get(engine.beam_name):
        check(options, streaming)
    return create_runner(engine.beam_name) if engine.beam_name else _fn_api_runner(), options


def only_stores_template(options: PipelineOptions) -> bool:
    """Whether the graph is only stored, for a service such as Dataflow to run later.

    If so, this program ends before the job begins.
    """
    return bool(options.view_as(GoogleCloudOptions).template_location)


def goes_on(options: PipelineOptions) -> bool:
    """Whether the job goes on from the state of an earlier one: a savepoint, or an update."""
    given_options = options.get_all_options(drop_default=True, retain_unknown_options=True)
    return bool(given_options.get("savepoint_path") or given_options.get("update"))


def _name(argument: str) -> str:
    return argument.partition("=")[0]


def _underscored(argument: str) -> str:
    """A Beam option in Beam's spelling (`_`), also where it was written with `-`."""
    if not argument.startswith("--"):
        return argument
    name, equals, value = argument.removeprefix("--").partition("=")
    return f"--{name.replace('-', '_')}{equals}{value}"


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


_CHECKS: dict[str, Callable[[PipelineOptions, bool], None]] = {
    "": _check_local,
    "PrismRunner": _prepare_prism,
    "FlinkRunner": _check_flink,
    "SparkRunner": _check_spark,
    "PortableRunner": _check_portable,
    "DataflowRunner": _check_dataflow,
}


def _unknown_options(options: PipelineOptions) -> list[str]:
    """Names of the options that none of Beam's option classes declares, in alphabetical order.

    Raises:
      UsageError: a value that Beam refuses.
    """
    complaint = io.StringIO()
    try:
        with redirect_stderr(complaint):
            given_options = options.get_all_options(retain_unknown_options=True)
    except SystemExit:  # argparse exits on a bad value
        reason = complaint.getvalue().strip().splitlines()[-1].partition("error: ")[2]
        raise UsageError(f"Beam refuses an option: {reason}.") from None
    return sorted(set(given_options) - set(PipelineOptions([]).get_all_options()))


def _fn_api_runner() -> PipelineRunner:
    # Its state cache measures the size of everything an object refers to, about 1 ms per key, and
    # state is in memory anyway. The setting is private; without it Beam is only slower.
    if hasattr(worker_handlers, "STATE_CACHE_SIZE_MB"):
        worker_handlers.STATE_CACHE_SIZE_MB = 0
    look_for_cycles_less_often()
    return FnApiRunner()


def look_for_cycles_less_often() -> None:
    """Make the garbage collector skip existing objects and run less often.

    The data are millions of objects without cycles; garbage collection took 6 % of a run's CPU.
    """
    _freeze()
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTION)


@cache
def _freeze() -> None:
    gc.freeze()  # only once, so that garbage of earlier runs can be collected


def for_workers(config: _Config, engine: PipelineRunner, options: PipelineOptions) -> _Config:
    """The configuration, with absolute paths if workers may have another working directory.

    Raises:
      UsageError: a path on this machine, which Dataflow's workers cannot reach.
    """
    names = [name for name in _PATHS if name in type(config).model_fields]
    return config.model_copy(
        update={name: reachable(name, getattr(config, name), engine, options) for name in names}
    )


def reachable(option: str, path: Any, engine: PipelineRunner, options: PipelineOptions) -> Any:
    """A path, or a tuple of paths, that workers can use; absolute if they may run elsewhere.

    Raises:
      UsageError: a path on this machine, which Dataflow's workers cannot reach.
    """
    if _share_this_folder(engine, options):
        return path
    paths = path if isinstance(path, tuple) else (path,) if path else ()
    local = [name for name in paths if is_local(name)]
    if local and type(engine).__name__ == "DataflowRunner":
        raise UsageError(
            f"--{option} {local[0]} is on this machine, where Dataflow's workers cannot reach it; "
            "give a path on gs://."
        )
    absolute = tuple(os.path.abspath(name) if name in local else name for name in paths)
    return absolute if isinstance(path, tuple) else absolute[0] if absolute else path


def _share_this_folder(engine: PipelineRunner, options: PipelineOptions) -> bool:
    kind = options.view_as(PortableOptions).environment_type
    return (
        isinstance(engine, FnApiRunner)
        or kind == "LOOPBACK"
        or (isinstance(engine, PrismRunner) and not kind)
    )
