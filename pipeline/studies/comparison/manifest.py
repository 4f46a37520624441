"""The manifest of a comparison: what it writes, and what its report reads back."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from goodgain.pipeline.results.unlabelled_arms import WithoutLabels
from goodgain.pipeline.studies.comparison.comparability import Mismatch
from goodgain.pipeline.studies.comparison.comparison_row import SensitivityRow
from goodgain.pipeline.studies.comparison.examples import Examples
from goodgain.pipeline.studies.comparison.matching import Account
from goodgain.pipeline.studies.comparison.pool_finds import FoundDocument, PoolFinds
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from goodgain.pipeline.studies.comparison.ways import ArmWays
from goodgain.transforms.core.metric import DescribedMetric, Metric
from goodgain.transforms.core.warnings.warning import DataWarning

_THRESHOLD = "good_gain_threshold"


class ComparedRun(Struct, frozen=True):
    """One arm.

    Attributes:
      value: of the attribute whose values are the arms of one run.
    """

    label: str
    folder: str
    value: str | None
    conversations: int
    parameters: dict[str, Any]
    rules_digest: str
    finished: str
    warnings: tuple[DataWarning, ...]

    def __post_init__(self) -> None:
        """Check what is read of the parameters.

        Raises:
          ValueError: it is missing; decoding names the field.
        """
        if not isinstance(self.parameters.get(_THRESHOLD), int):
            raise ValueError(f"Object missing required field `parameters.{_THRESHOLD}`")

    @property
    def good_gain_threshold(self) -> int:
        """The least label that counts as good."""
        return int(self.parameters[_THRESHOLD])


class ComparedPool(PoolFinds, frozen=True, kw_only=True, omit_defaults=True):
    """The pool of both arms, without its documents, which are a dataset."""

    folder: str
    digest: str
    documents: tuple[FoundDocument, ...] = ()


class ComparisonVersions(Struct, frozen=True):
    """By which version it was made."""

    goodgain: str


class ComparisonManifest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The manifest of a comparison; most attributes are explained in `Compared`.

    Attributes:
      datasets: their numbers of rows; empty if nothing is written.
      own_metrics: those of the user.
    """

    kind: str
    answer: str
    design: Literal["paired", "unpaired"]
    pair_by: str | None
    cluster: str | None
    pairs: int | None
    base: ComparedRun
    candidate: ComparedRun
    base_account: Account | None
    candidate_account: Account | None
    metrics_only_in_base: tuple[str, ...]
    metrics_only_in_candidate: tuple[str, ...]
    primary: str | None
    declared_family: tuple[str, ...]
    only_family_in_slices: bool
    warnings: tuple[DataWarning, ...]
    forced: tuple[Mismatch, ...]
    shared_judgments: bool
    shared_aspects: bool
    without_labels: tuple[WithoutLabels, ...]
    ways: tuple[ArmWays, ...] = ()
    examples: Examples | None
    pool: ComparedPool | None = None
    sensitivity: tuple[SensitivityRow, ...] | None
    request: ComparisonRequest
    versions: ComparisonVersions
    datasets: dict[str, int] = {}
    own_metrics: tuple[DescribedMetric, ...] = ()

    def has_own_ideal(self, metric: Metric) -> bool:
        """Whether each arm is measured by its own finds."""
        return metric.has_own_ideal(self.shared_judgments, self.shared_aspects)
