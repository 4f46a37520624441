"""Reads the traces that a run would read, without scoring them."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from goodgain.pipeline.run.plan.local_files import usable_threads
from goodgain.pipeline.run.plan.sources import LocalFiles
from goodgain.pipeline.run.plan.traces import TraceSet
from goodgain.pipeline.settings.validate_config import ValidateConfig
from goodgain.pipeline.studies.survey import Survey
from goodgain.transforms.core.memory_budget import MemoryBudget, default_memory_budget
from goodgain.transforms.core.scoring.sketches import Sketcher
from goodgain.transforms.core.warnings.check_inputs import CheckInputs
from goodgain.transforms.core.warnings.checks import warnings_of
from goodgain.transforms.core.warnings.warning import DataWarning

_MILLIS = 1_000  # of a second


class Validation(Struct, frozen=True):
    """What traces contain, and what about them makes numbers misleading."""

    survey: Survey
    warnings: list[DataWarning]


def validate(config: ValidateConfig, traces: TraceSet, started: datetime) -> Validation:
    """Read every record.

    Raises:
      GoodGainError: more is kept than `max_held_bytes` allows.
    """
    clock = int(started.timestamp() * _MILLIS)
    most = config.max_held_bytes or default_memory_budget(traces.size)
    survey = Survey(traces.rules, clock, MemoryBudget(most))
    sketcher = Sketcher(traces.rules, usable_threads())
    for record in LocalFiles(traces.files, config).sketches(sketcher):
        survey.add(record)
    survey.of_results.settle()
    warnings = warnings_of(
        CheckInputs(
            survey.counts(),
            config.good_gain_threshold,
            traces.rules,
            survey.records.read,
            traces.seen,
            clock=clock,
        )
    )
    return Validation(survey, warnings)
