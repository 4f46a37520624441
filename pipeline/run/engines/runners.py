"""Creates engines by name, with checked options."""

from __future__ import annotations

import gc
import io
from collections.abc import Sequence
from contextlib import redirect_stderr
from functools import cache

from apache_beam.options.pipeline_options import (
    GoogleCloudOptions,
    PipelineOptions,
)
from apache_beam.runners.portability.fn_api_runner import FnApiRunner, worker_handlers
from apache_beam.runners.runner import PipelineRunner, create_runner

from goodgain.pipeline.run.engines.engine_checks import ENGINE_CHECKS
from goodgain.pipeline.run.engines.table import ENGINES
from goodgain.transforms.core.errors import UsageError

_REPEATABLE = {"--experiments"}
_OBJECTS_BEFORE_COLLECTION = 20_000


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
    beam_arguments = [_underscore(argument) for argument in beam_arguments]
    ours = list(engine.arguments)
    ours += ["--streaming", *engine.stream_arguments] if streaming else engine.batch_arguments
    # The user's value wins. An option that Beam does not declare must not be set twice, except
    # those that may be repeated.
    users = {_name(argument) for argument in beam_arguments} - _REPEATABLE
    added = [word for word in ours if word not in beam_arguments and _name(word) not in users]
    options = PipelineOptions([*added, *beam_arguments])
    unknown = _find_unknown_options(options) if beam_arguments else []
    # Other engines may have options that Beam does not declare.
    if unknown and not engine.beam_name:
        raise UsageError(
            f"--{unknown[0]} is not an option of `goodgain {command}`, nor of Beam with "
            f"{runner}; see `goodgain {command} --help`."
        )
    if check := ENGINE_CHECKS.get(engine.beam_name):
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


def _underscore(argument: str) -> str:
    """A Beam option in Beam's spelling (`_`), also where it was written with `-`."""
    if not argument.startswith("--"):
        return argument
    name, equals, value = argument.removeprefix("--").partition("=")
    return f"--{name.replace('-', '_')}{equals}{value}"


def _find_unknown_options(options: PipelineOptions) -> list[str]:
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
