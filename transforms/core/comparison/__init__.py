"""The statistics of a comparison of two arms: pure functions of the values of one metric.

Differences are candidate - base throughout. What is not defined is None, with the reason in `note`.
"""

from transforms.core.comparison.adjustment import AdjustmentMethod, adjust
from transforms.core.comparison.bootstrap import (
    DEFAULT_RESAMPLES,
    BootstrapInterval,
    bootstrap_interval,
)
from transforms.core.comparison.gsb import GoodSameBad, good_same_bad
from transforms.core.comparison.paired import compare_paired
from transforms.core.comparison.pairing import Pairing, pair
from transforms.core.comparison.result import Comparison, Design, EffectSize
from transforms.core.comparison.signed_ranks import WilcoxonTest, wilcoxon
from transforms.core.comparison.signs import SignTest, sign_test
from transforms.core.comparison.student import DEFAULT_OPTIONS, ComparisonOptions
from transforms.core.comparison.unpaired import compare_unpaired

__all__ = [
    "DEFAULT_OPTIONS",
    "DEFAULT_RESAMPLES",
    "AdjustmentMethod",
    "BootstrapInterval",
    "Comparison",
    "ComparisonOptions",
    "Design",
    "EffectSize",
    "GoodSameBad",
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
