"""The statistics of a comparison of two arms: pure functions of the values of one metric.

Differences are candidate - base throughout. Undefined values are None, with the reason in `note`.
"""

from goodgain.transforms.core.comparison.adjustment import AdjustmentMethod, adjust
from goodgain.transforms.core.comparison.bootstrap import (
    DEFAULT_RESAMPLES,
    BootstrapInterval,
    bootstrap_interval,
)
from goodgain.transforms.core.comparison.difference_test import DEFAULT_OPTIONS, ComparisonOptions
from goodgain.transforms.core.comparison.gsb import GoodSameBad, good_same_bad
from goodgain.transforms.core.comparison.paired import compare_paired
from goodgain.transforms.core.comparison.pairing import Pairing, pair
from goodgain.transforms.core.comparison.result import Design, EffectSize, MetricComparison
from goodgain.transforms.core.comparison.signed_ranks import WilcoxonTest, wilcoxon
from goodgain.transforms.core.comparison.signs import SignTest, sign_test
from goodgain.transforms.core.comparison.unpaired import compare_unpaired

__all__ = [
    "DEFAULT_OPTIONS",
    "DEFAULT_RESAMPLES",
    "AdjustmentMethod",
    "BootstrapInterval",
    "ComparisonOptions",
    "Design",
    "EffectSize",
    "GoodSameBad",
    "MetricComparison",
    "Pairing",
    "SignTest",
    "WilcoxonTest",
    "adjust",
    "bootstrap_interval",
    "compare_paired",
    "compare_unpaired",
    "good_same_bad",
    "pair",
    "sign_test",
    "wilcoxon",
]
