"""Options of the Python functions: those of `goodgain run`, as keyword arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from goodgain.pipeline.options.config_file import read_config_file
from goodgain.pipeline.options.run_config import RunConfig
from goodgain.pipeline.options.yaml_model import reason, unknown
from goodgain.transforms.core.errors import UsageError

IN_MEMORY = "(in memory)"
# Options that do not apply to Python functions, which write no files and choose no engine.
_OF_THE_COMMAND = frozenset(
    {"input", "output", "format", "overwrite", "shards", "runner", "gate", "baseline"}
)
_ALIASES = {"slices": "slice"}


def evaluation_config(
    inputs: Sequence[str] | None, options: Mapping[str, Any], config: str | None = None
) -> RunConfig:
    """The options of an evaluation, checked.

    Args:
      inputs: paths of the traces; None for traces in memory.
      options: by name, as in a configuration file, but `slices` for `slice`; None = default.
      config: a YAML file with options of `goodgain run`, which `options` override.

    Raises:
      UsageError: an option is unknown or has a wrong value; the message lists every mistake.
    """
    known = sorted((set(RunConfig.model_fields) - _OF_THE_COMMAND) | set(_ALIASES))
    mistakes = [unknown(name, known) for name in options if name not in known]
    values: dict[str, Any] = {}
    if config is not None:
        file = read_config_file(config, RunConfig)
        mistakes += [f"{config}:{line}: {what}" for line, what in file.mistakes]
        values.update(file.values)
    for name, value in options.items():
        if value is not None and name in known:
            # Tuples and sets become lists, as they are in files.
            plain = list(value) if isinstance(value, tuple | set | frozenset) else value
            values[_ALIASES.get(name, name)] = plain
    # Duplicates are always kept: in memory they cost no files.
    values |= {"input": inputs or [IN_MEMORY], "output": IN_MEMORY, "write_duplicates": True}
    try:
        checked = RunConfig.model_validate(values)
    except ValidationError as error:
        mistakes += [f"{one['loc'][0]} {reason(one)}" for one in error.errors()]
    if mistakes:
        raise UsageError("The options cannot be used: " + "; ".join(mistakes) + ".")
    return checked


def saved_config(parameters: Mapping[str, Any]) -> RunConfig:
    """The options in a manifest.

    Raises:
      UsageError: it was written by a version with other options.
    """
    try:
        return RunConfig.model_validate(parameters)
    except ValidationError as error:
        names = ", ".join(sorted({str(one["loc"][0]) for one in error.errors()}))
        raise UsageError(
            f"The run was made by a version with other options ({names}); run it again."
        ) from None
