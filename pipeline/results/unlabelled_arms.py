"""Arms without any label: what a comparison shows of metrics that need labels.

A result without a label counts as gain 0, so such an arm would seem to have a measured gain of 0.
The datasets have these numbers; tables and the report show none, like those of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import asdict

from goodgain.transforms.core.means.mean_row import Estimate
from goodgain.transforms.core.metrics.by_name import metric_by_name

NO_LABEL = "no result has a label"  # as in `means`
_OF_ARM = {
    arm: (f"{arm}_mean", f"{arm}_stddev", f"worst_{arm}_mean") for arm in ("base", "candidate")
}
# What follows from both means; the number of values stays.
_OF_BOTH = (
    "difference", "relative_difference", "stderr", "ci_low", "ci_high", "t", "degrees_of_freedom",
    "p_value", "p_holm", "p_benjamini_hochberg", "verdict_confidence", "verdict_ci_low",
    "verdict_ci_high", "effect_size", "minimum_detectable_effect", "good", "same", "bad", "gsb",
    "gsb_ci_low", "gsb_ci_high", "bootstrap_ci_low", "bootstrap_ci_high", "bootstrap_resamples",
    "wilcoxon_p", "wilcoxon_p_holm", "wilcoxon_p_benjamini_hochberg", "rank_biserial", "sign_p",
    "sign_p_holm", "sign_p_benjamini_hochberg", "worst_difference",
)  # fmt: skip
_SHOWN = ("n", "undefined", "clusters", "effective_clusters", "note")
_ESTIMATES = tuple(name for name in Estimate.__struct_fields__ if name not in _SHOWN)
Row = Mapping[str, Any]
_Struct = TypeVar("_Struct", bound=Struct)


class WithoutLabels(Struct, frozen=True):
    """The arms of a slice in which no compared result has a label.

    Attributes:
      arms: `base`, `candidate` or both.
    """

    slice: dict[str, str]
    arms: tuple[str, ...]


class ShownRows:
    """Rows of a comparison as tables and the report show them."""

    def __init__(self, found: Iterable[WithoutLabels]) -> None:
        self._arms = {frozenset(arm.slice.items()): arm.arms for arm in found}

    def of_comparison(self, row: Row) -> Row:
        """A row of `comparison`, or of its sensitivity."""
        without = self._unlabelled_arms(row)
        if not without:
            return row
        names = [*_OF_BOTH, *(name for arm in without for name in _OF_ARM[arm])]
        note = None if row["reason"] else NO_LABEL
        return {**row, **dict.fromkeys(names), "note": note}

    def struct(self, row: _Struct) -> _Struct:
        """The same for a row that is a struct."""
        return type(row)(**self.of_comparison(asdict(row))) if self._arms else row

    def of_arm(self, row: Row) -> Row:
        """A row of `arms`."""
        if row["arm"] not in self._unlabelled_arms(row):
            return row
        return {**row, **{name: None for name in _ESTIMATES if name in row}}

    def _unlabelled_arms(self, row: Row) -> tuple[str, ...]:
        """The arms of which the row has nothing to show."""
        without = self._arms.get(frozenset(row["slice"].items()), ())
        return without if without and metric_by_name(row["metric"]).needs_labels else ()
