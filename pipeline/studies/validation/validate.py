"""Observes the traces of an evaluation while they are read, without scoring them."""

from __future__ import annotations

from msgspec import Struct

from goodgain.pipeline.inputs.local_files import count_usable_threads
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.run.plan.sources import LocalFiles
from goodgain.pipeline.studies.validation.survey import Survey
from goodgain.transforms.core.scoring.sketches import Sketcher
from goodgain.transforms.core.warnings.check_inputs import CheckInputs
from goodgain.transforms.core.warnings.checks import warnings_of
from goodgain.transforms.core.warnings.warning import DataWarning


class Validation(Struct, frozen=True):
    """What traces contain, and what about them makes numbers misleading."""

    survey: Survey
    warnings: list[DataWarning]


def validate(evaluation: Evaluation) -> Validation:
    """Read every record.

    Raises:
      GoodGainError: more is kept than `max_held_bytes` allows.
    """
    settings, traces, scoring = evaluation.settings, evaluation.traces, evaluation.scoring
    survey = Survey(scoring.rules, scoring.clock, evaluation.budget())
    sketcher = Sketcher(scoring.rules, count_usable_threads())
    for record in LocalFiles(traces.files, settings).sketches(sketcher):
        survey.add(record)
    survey.settle()
    warnings = warnings_of(
        CheckInputs(
            survey.counts(),
            scoring.good_gain_threshold,
            scoring.rules,
            survey.records.read,
            settings.names_to_check(traces.seen),
            clock=scoring.clock,
        )
    )
    return Validation(survey, warnings)
