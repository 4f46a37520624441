"""Means over conversations without labels: null with a note, not 0 (SPEC 10, `no_labels`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from goodgain.transforms.core.means.rows import Estimate

_NOTE = "no result has a label"


def without_labels(estimate: Estimate) -> Estimate:
    """The estimate for a metric that needs labels, if no result has one: null, with a note."""
    return replace(
        estimate,
        n=0,
        undefined=estimate.n + estimate.undefined,
        mean=None,
        stddev=None,
        stderr=None,
        skewness=None,
        ci_low=None,
        ci_high=None,
        interval=None,
        clusters=None if estimate.clusters is None else 0,
        intraclass_correlation=None,
        note=_NOTE,
        worst=None,
        best=None,
        min=None,
        max=None,
        p10=None,
        p50=None,
        p90=None,
    )
