"""Rows of the sensitivity analysis: each verdict under another policy."""

from __future__ import annotations

from msgspec import Struct

from goodgain.pipeline.comparison.rows import Verdict


class SensitivityRow(Struct, frozen=True):
    """One metric at N under one policy; the attributes mean what they mean in `ComparisonRow`.

    Attributes:
      turns: whether the verdict differs from that under the policies of the runs themselves.
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
