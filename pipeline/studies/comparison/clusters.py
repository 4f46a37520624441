"""The clusters of a comparison's values, like repeated runs of a query (SPEC 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from goodgain.pipeline.results.manifest_model import RunManifest, RunOptions
from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow
from goodgain.pipeline.studies.comparison.matching import Grouped, Matched, Sample
from goodgain.pipeline.studies.comparison.measures import Measure
from goodgain.transforms.core.comparison.cluster_errors import Codes
from goodgain.transforms.core.means.cluster_variance import are_few_effective
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.warnings.codes import FEW_EFFECTIVE_CLUSTERS
from goodgain.transforms.core.warnings.warning import DataWarning

# The cluster numbers of the values of a measure: of each pair, or of each value of both arms.
CodesOf = Callable[[Sample, Measure], Codes | tuple[Codes, Codes]]


def cluster_codes(matched: Matched, attribute: str) -> CodesOf:
    """The clusters of matched arms; a conversation without the attribute is its own cluster.

    A pair belongs to the cluster of its base conversation or, if that lacks the attribute, of its
    candidate conversation. In two samples, a cluster in both arms has the same number in both.
    """
    base, candidate = matched.base, matched.candidate
    if matched.paired:
        of_base, of_candidate = _first_values(base, attribute), _first_values(candidate, attribute)
        pairs = zip(matched.base_indexes.tolist(), matched.candidate_indexes.tolist(), strict=True)
        by_key = number_clusters(of_base[b] or of_candidate[c] for b, c in pairs)
        return lambda values, _: by_key[values.shared]
    n_base = len(base.arm.ids)
    conversations = (*base.arm.attributes, *candidate.arm.attributes)
    codes = number_clusters(attributes.get(attribute, "") for attributes in conversations)
    return lambda _, measure: (
        _keep_defined(base.arm, codes[:n_base], measure),
        _keep_defined(candidate.arm, codes[n_base:], measure),
    )


def find_common_cluster(base: RunOptions, candidate: RunOptions) -> str | None:
    """The cluster attribute of both runs; None if they have none, or different ones."""
    return base.cluster if base.cluster == candidate.cluster else None


def cluster_warnings(cluster: str | None, rows: Iterable[ComparisonRow]) -> list[DataWarning]:
    """A warning if the intervals and tests of a comparison by cluster cannot be relied on."""
    row = leading_row(rows)
    if cluster is None or row.clusters is None or row.effective_clusters is None:
        return []
    if not are_few_effective(row.clusters, row.effective_clusters):
        return []
    remedy = (
        f"pair by {cluster} (" + Remedy("pair_by", cluster) + "), so that each weighs the same."
    )
    if row.design == "unpaired":
        remedy = f"if both arms have the same values of {cluster}, " + remedy
    return [
        DataWarning(
            FEW_EFFECTIVE_CLUSTERS,
            row.clusters,
            None,
            f"The {row.clusters:,} clusters by {cluster} differ so much in size that they weigh "
            f"like {row.effective_clusters:.1f} of the same size, so intervals are too narrow and "
            "p values too small.",
            "Take more clusters, or clusters of more equal size; or " + remedy,
        )
    ]


def arm_warnings(manifest: RunManifest) -> list[DataWarning]:
    """The warnings of a run that hold in a comparison, too.

    That of clusters is about the run's own means: a comparison has other clusters, or none.
    """
    return [warning for warning in manifest.warnings if warning.code != FEW_EFFECTIVE_CLUSTERS]


def leading_row(rows: Iterable[ComparisonRow]) -> ComparisonRow:
    """The row of all conversations that a comparison is mainly about: at N if there is one."""

    def rank(row: ComparisonRow) -> tuple[bool, bool, bool]:
        return row.i is not None, row.family == "further", row.family != "primary"

    return min((row for row in rows if not row.slice), key=rank)


def _first_values(grouped: Grouped, attribute: str) -> list[str]:
    """For each key, the attribute's value in its first conversation."""
    attributes = grouped.arm.attributes
    return [attributes[index].get(attribute, "") for index in grouped.first_rows().tolist()]


def number_clusters(values: Iterable[str]) -> Codes:
    """A cluster number for each value; a blank value is a cluster of its own."""
    numbers: dict[str, int] = {}
    alone = 0
    codes = []
    for value in values:
        if value:
            codes.append(numbers.setdefault(value, len(numbers)))
        else:
            alone += 1
            codes.append(-alone)
    return np.array(codes, dtype=np.int64)


def _keep_defined(arm: Arm, codes: Codes, measure: Measure) -> Codes:
    values, present = arm.values(measure)
    return codes[present & ~np.isnan(values)]
