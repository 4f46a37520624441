"""Engines: what each name that --runner takes means, with the settings it needs and why."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr

from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.runner import PipelineRunner
from msgspec import Struct

from transforms.core.errors import UsageError


class Engine(Struct, frozen=True):
    """One entry of the table of engines.

    Attributes:
      beam_name: the runner that Beam is asked for; "" for the one made here.
      arguments: options that always go with it.
      reason: why this runner and these options.
    """

    beam_name: str
    arguments: tuple[str, ...]
    reason: str


_FN_API = Engine(
    "",
    (),
    "Beam's own DirectRunner picks an engine by what it can download; this one is always there, "
    "downloads nothing, and gives all elements of a key before its timers.",
)

ENGINES: dict[str, Engine] = {
    "DirectRunner": _FN_API,
    "FnApiRunner": _FN_API,
    "PrismRunner": Engine(
        "PrismRunner",
        ("--experiments=prism_disable_sdf_split",),
        "Prism splits a bundle that makes no progress, stateful ones too, and then loses state; "
        "the flag forbids it (apache/beam#35771).",
    ),
    "FlinkRunner": Engine(
        "FlinkRunner",
        ("--finish_bundle_before_checkpointing",),
        "Without the flag rows that a bundle emits at a checkpoint can be lost.",
    ),
    "PortableRunner": Engine("PortableRunner", (), "As its job endpoint says."),
    "DataflowRunner": Engine("DataflowRunner", (), "Google Cloud Dataflow."),
}


def create(runner: str, beam_arguments: Sequence[str]) -> tuple[PipelineRunner, PipelineOptions]:
    """The engine of a name, and the options for the pipeline.

    Raises:
      UsageError: no such engine, or an option that is wrong for it.
    """
    engine = ENGINES.get(runner)
    if engine is None:
        raise UsageError(
            f"Runner {runner} is not known; give one of {', '.join(ENGINES)} with --runner."
        )
    # The user's come last, so that they win.
    added = [argument for argument in engine.arguments if argument not in beam_arguments]
    options = PipelineOptions([*added, *beam_arguments])
    unknown = _unknown_options(options)
    if unknown and not engine.beam_name:  # the other engines may know options that Beam does not
        raise UsageError(
            f"--{unknown[0]} is no option of goodgain, nor of Beam with {runner}; see "
            "`goodgain run --help`."
        )
    return _make(engine)(), options


def _unknown_options(options: PipelineOptions) -> list[str]:
    """Names of the options that none of Beam's option classes declares, in alphabetical order.

    Raises:
      UsageError: a value that Beam refuses.
    """
    complaint = io.StringIO()
    try:
        with redirect_stderr(complaint):
            given = options.get_all_options(retain_unknown_options=True)
    except SystemExit:  # how argparse refuses a value
        reason = complaint.getvalue().strip().splitlines()[-1].partition("error: ")[2]
        raise UsageError(f"Beam refuses an option: {reason}.") from None
    return sorted(set(given) - set(PipelineOptions([]).get_all_options()))


def _make(engine: Engine) -> Callable[[], PipelineRunner]:
    if engine.beam_name:
        from apache_beam.runners.runner import create_runner

        return lambda: create_runner(engine.beam_name)
    return _fn_api_runner


def _fn_api_runner() -> PipelineRunner:
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner, worker_handlers

    # Its state cache measures objects through all they refer to, about 1 ms a key; state is
    # in memory here anyway. The setting is private, so a Beam without it is only slower.
    if hasattr(worker_handlers, "STATE_CACHE_SIZE_MB"):
        worker_handlers.STATE_CACHE_SIZE_MB = 0
    return FnApiRunner()
