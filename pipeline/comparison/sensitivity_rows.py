"""Rows of the sensitivity analysis: each verdict under another policy."""

from __future__ import annotations

from msgspec import Struct

from goodgain.pipeline.comparison.rows import Verdict


class SensitivityRow(Struct, frozen=True):
    """One metric at N under one policy; attributes as in `ComparisonRow`.

    Attributes:
      turns: whether the verdict differs from the one under the runs' own policies.
    """

    policy: str
    metric: str
    base_mean: float | None
    candidate_mean: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_holm: float | None
    p_benjamini_hochberg: float | None
    verdict: Verdict
    turns: bool
