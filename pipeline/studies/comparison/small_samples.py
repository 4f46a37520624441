"""Samples that are too small for the intervals of a comparison."""

from __future__ import annotations

from collections.abc import Iterable

from goodgain.pipeline.studies.comparison.clusters import leading_row
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.core.wording import format_count

FEW_CONVERSATIONS = "few_conversations"
# Of 3,000 comparisons of equal arms, one of them with 57 conversations, 13 to 16 % were called
# different at 5 % if the other had 2, 6 to 11 % if 3, 5 to 8 % if 4, and 4 to 7 % if 5 (normal
# values, and gamma distributed ones of shape 2 and 4).
_ENOUGH = 5


def small_sample_warnings(rows: Iterable[ComparisonRow]) -> list[DataWarning]:
    """A warning if an arm of an unpaired comparison is so small that equal arms often differ."""
    row = leading_row(rows)
    smaller = min(row.n_base, row.n_candidate)
    if row.design != "unpaired" or not 2 <= smaller < _ENOUGH:
        return []
    arm = "base" if row.n_base == smaller else "candidate"
    return [
        DataWarning(
            FEW_CONVERSATIONS,
            smaller,
            None,
            f"The {arm} has {format_count(smaller, 'conversation')}, which say little about how "
            "much others would differ, so equal arms are called different more often than the "
            "confidence says.",
            "Score more conversations, or the same ones in both arms, which are paired.",
        )
    ]
