"""Observes the traces of an evaluation while they are read, without scoring them."""

from __future__ import annotations

from typing import Any

from goodgain.pipeline.inputs.local_files import count_usable_threads
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.run.plan.sources import LocalFiles
from goodgain.pipeline.studies.validation.findings import make_report
from goodgain.pipeline.studies.validation.survey import Survey
from goodgain.transforms.core.records.max_rejected import MaxRejected
from goodgain.transforms.core.scoring.sketches import Sketcher
from goodgain.transforms.core.warnings.check_inputs import CheckInputs
from goodgain.transforms.core.warnings.checks import warnings_of


def validate(evaluation: Evaluation, max_rejected: MaxRejected) -> dict[str, Any]:
    """Read every record, and report what traces contain; see `make_report`.

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
    return make_report(survey, traces.files, traces.rules, max_rejected, warnings)
