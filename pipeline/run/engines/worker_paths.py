"""Paths of a configuration as the workers of an engine can use them."""

from __future__ import annotations

from typing import Any, TypeVar

from apache_beam.options.pipeline_options import (
    PipelineOptions,
    PortableOptions,
)
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.runners.portability.prism_runner import PrismRunner
from apache_beam.runners.runner import PipelineRunner

from goodgain.pipeline.settings.option_fields import paths_of_workers
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.filesystems import is_local, make_absolute

_Config = TypeVar("_Config", bound=Settings)


def for_workers(config: _Config, engine: PipelineRunner, options: PipelineOptions) -> _Config:
    """The configuration, with absolute paths if workers may have another working directory.

    Raises:
      UsageError: a path on this machine, which Dataflow's workers cannot reach.
    """
    names = paths_of_workers(type(config))
    return config.model_copy(
        update={
            name: reachable_path(name, getattr(config, name), engine, options) for name in names
        }
    )


def reachable_path(option: str, path: Any, engine: PipelineRunner, options: PipelineOptions) -> Any:
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
    absolute = tuple(map(make_absolute, paths))
    return absolute if isinstance(path, tuple) else absolute[0] if absolute else path


def _share_this_folder(engine: PipelineRunner, options: PipelineOptions) -> bool:
    kind = options.view_as(PortableOptions).environment_type
    return (
        isinstance(engine, FnApiRunner)
        or kind == "LOOPBACK"
        or (isinstance(engine, PrismRunner) and not kind)
    )
