"""The metrics that a run declares itself: its outcomes, and those of its user."""

from __future__ import annotations

from goodgain.pipeline.results.manifest_model import Declared, RunManifest
from goodgain.transforms.core.metrics.outcomes import outcomes_of, remember_outcomes
from goodgain.transforms.core.metrics.own import own_metrics_of


def remember_metrics(declared: Declared | RunManifest) -> None:
    """Make them known by name to whatever shows or checks the run from now on.

    Another run of this process may have declared an outcome of the same name otherwise.
    """
    own_metrics_of(declared.own_metrics)
    remember_outcomes(outcomes_of(declared.outcomes))
