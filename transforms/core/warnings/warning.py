"""Data warnings, and which of them make a run exit with code 3 (SPEC 10)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from goodgain.transforms.core.remedy import Phrased
from goodgain.transforms.core.warnings import codes

_ENOUGH_LABELS = 30  # fewer labels may all be bad by chance

_FAILING_CONTRADICTED_SHARE = 0.5


class DataWarning(Phrased, frozen=True):
    """A finding in the data that makes numbers less meaningful than they seem.

    Attributes:
      code: a short name, like `no_labels`.
      count: number of affected results, records, names or clusters.
      share: their share of all, 0 to 1; None for names and clusters.
      message: the finding and its effect on the numbers.
      remedy: what the user can do.

    Example:
      >>> import goodgain as gg
      >>> call = {"conversation_id": "c", "iteration": 1, "results": [{"relevance": 3}]}
      >>> found: list[gg.DataWarning] = gg.evaluate([call]).warnings
      >>> [warning.code for warning in found]
      ['no_labels', 'unknown_fields', 'no_identity']
    """

    code: str
    count: int
    share: float | None
    message: str
    remedy: str


def allowed_codes(*, unlabelled: bool, no_good: bool, contradicted_ids: bool) -> frozenset[str]:
    """The codes that the options `--allow-...` accept."""
    by_option = (
        (unlabelled, (codes.NO_RESULTS, codes.NO_LABELS)),
        (no_good, (codes.LABELS_BELOW_THRESHOLD,)),
        (contradicted_ids, (codes.IDS_CONTRADICTED,)),
    )
    return frozenset(code for is_given, accepted in by_option if is_given for code in accepted)


def failing_warnings(
    warnings: Iterable[DataWarning], allowed: Collection[str]
) -> list[DataWarning]:
    """The warnings that make a run exit with code 3, even though its outputs are written."""
    return [warning for warning in warnings if _is_failing(warning) and warning.code not in allowed]


def _is_failing(warning: DataWarning) -> bool:
    if warning.code == codes.LABELS_BELOW_THRESHOLD:
        return warning.count >= _ENOUGH_LABELS
    if warning.code == codes.IDS_CONTRADICTED:
        return (warning.share or 0) >= _FAILING_CONTRADICTED_SHARE
    return warning.code in (codes.EMPTY_INPUT, codes.NO_RESULTS, codes.NO_LABELS)
