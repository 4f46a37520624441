"""The statistics of a comparison of two arms: pure functions of the values of one metric.

Differences are candidate - base throughout. Undefined values are None, with the reason in `note`.
"""

from goodgain.transforms.core.comparison.adjustment import AdjustmentMethod, adjust
from goodgain.transforms.core.comparison.bootstrap import bootstrap_interval
from goodgain.transforms.core.comparison.difference_test import ComparisonOptions
from goodgain.transforms.core.comparison.gsb import good_same_bad
from goodgain.transforms.core.comparison.paired import compare_paired
from goodgain.transforms.core.comparison.result import Design, EffectSize, MetricComparison
from goodgain.transforms.core.comparison.samples import rounded_differences
from goodgain.transforms.core.comparison.signed_ranks import wilcoxon
from goodgain.transforms.core.comparison.signs import sign_test
from goodgain.transforms.core.comparison.unpaired import compare_unpaired

__all__ = [
    "AdjustmentMethod",
    "ComparisonOptions",
    "Design",
    "EffectSize",
    "MetricComparison",
    "adjust",
    "bootstrap_interval",
    "compare_paired",
    "compare_unpaired",
    "good_same_bad",
    "rounded_differences",
    "sign_test",
    "wilcoxon",
]
