"""Whether a verdict depends on a policy: both arms scored again with other rules and thresholds.

An agent that repeats itself can look better if copies count as new. A verdict that changes with the
policy reflects the policy, not the agents.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from goodgain.pipeline.studies.comparison.compare import Compared, compare
from goodgain.pipeline.studies.comparison.comparison_row import (
    ComparisonRow,
    SensitivityRow,
    Verdict,
)
from goodgain.pipeline.studies.comparison.request import Tests
from goodgain.pipeline.studies.comparison.rescoring import score_again
from goodgain.transforms.core.dedup.rules_file import Policy

AS_RUN = "as run"
# Compared in addition to the family, since only ranking metrics depend on whether duplicates keep
# their slots.
_RANKING = "ndcg@10"
_THRESHOLDS = (1, 2, 3)


class Variant(Struct, frozen=True):
    """A variant of the scoring options.

    Attributes:
      policy: policy of the rules for duplicates; None = as in the run.
    """

    name: str
    parameters: Mapping[str, Any] = {}
    policy: Policy | None = None


VARIANTS = (
    Variant("compact", {"duplicates": "compact"}),
    Variant("hold_slot", {"duplicates": "hold_slot"}),
    Variant("no de-duplication", {}, "none"),
    Variant("exact ids only", {}, "ids"),
    *(
        Variant(f"threshold {gain}", {"good_gain_threshold": gain, "relevance_threshold": None})
        for gain in _THRESHOLDS
    ),
)


def measure_sensitivity(compared: Compared, say: Callable[[str], None]) -> list[SensitivityRow]:
    """Score both arms again under every variant, and compare the declared family at N.

    Reads the inputs that the manifests name, and writes to a temporary folder only.

    Raises:
      UsageError: the inputs or rules of a run are gone or have changed.
    """
    sources = (compared.arms.base_source, compared.arms.candidate_source)
    computed = all(_RANKING in source.manifest.options.metrics for source in sources)
    ranking = (_RANKING,) if computed else ()
    request = replace(
        compared.request,
        metrics=tuple(dict.fromkeys((*compared.arms.measures.declared, *ranking))),
        family=compared.arms.measures.declared,
        primary=compared.arms.measures.primary,
        slices=(),
        tolerances=(),
        examples=0,
        examples_by=None,
        max_i=1,
        tests=Tests(options=compared.request.tests.options),
    )
    rows_as_run = _rows(compare(request))
    sensitivity_rows = [_row(AS_RUN, row, row.verdict) for row in rows_as_run]
    verdicts = {row.metric: row.verdict for row in rows_as_run}
    for variant in filter(lambda variant: _differs(variant, compared), VARIANTS):
        say(f"Scoring with another policy: {variant.name} ...")
        with tempfile.TemporaryDirectory(prefix="goodgain-") as folder:
            outputs = _score_again(compared, variant, Path(folder))
            rows = _rows(compare(replace(request, outputs=outputs)))
        sensitivity_rows += [_row(variant.name, row, verdicts[row.metric]) for row in rows]
    return sensitivity_rows


def _differs(variant: Variant, compared: Compared) -> bool:
    """Whether a variant differs from how either run was scored."""
    sources = (compared.arms.base_source, compared.arms.candidate_source)
    return variant.policy is not None or any(
        source.manifest.parameters.get(name) != value
        for source in sources
        for name, value in variant.parameters.items()
    )


def _rows(compared: Compared) -> list[ComparisonRow]:
    """All conversations at N: the declared family, and one metric of the ranked list."""
    return [
        row
        for row in compared.rows
        if row.i is None and not row.slice and (row.family != "further" or row.metric == _RANKING)
    ]


def _row(policy: str, row: ComparisonRow, verdict_as_run: Verdict) -> SensitivityRow:
    plain = {**asdict(row), "reason": row.reason and str(row.reason)}
    return SensitivityRow(**plain, policy=policy, verdict_changes=row.verdict != verdict_as_run)


def _score_again(compared: Compared, variant: Variant, folder: Path) -> tuple[str, ...]:
    """Score the traces of each compared run again; returns the new output folders, in order."""
    arms = compared.arms
    sources = {source.folder: source for source in (arms.base_source, arms.candidate_source)}
    new_folders = {}
    for number, (old, source) in enumerate(sources.items()):
        new = folder / str(number)
        changes = {**variant.parameters, "max_i": None}
        score_again(old, source.manifest, new, changes, variant.policy)
        new_folders[old] = str(new)
    return tuple(new_folders[old] for old in compared.request.outputs)
