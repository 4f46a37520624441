"""Everything that the report shows, read from the outputs of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from goodgain.pipeline.comparison.report.costs import ArmCosts, arm_costs
from goodgain.pipeline.comparison.report.pairs import Pairs, pairs_by_metric
from goodgain.pipeline.comparison.report.pool import one_sided
from goodgain.pipeline.comparison.report.slices import ComparedSlices, arrange
from goodgain.pipeline.outputs.datasets import ARMS, COMPARISON, DIFFERENCES, POOL_DOCUMENTS
from goodgain.pipeline.outputs.folder import read_dataset
from goodgain.pipeline.outputs.without_labels import ShownRows, WithoutLabels
from goodgain.pipeline.report.definitions import Definition, Glossary, glossary
from goodgain.transforms.core.scoring.registry import AT_END, BY_ITERATION, OF_POOL


class ComparisonFacts(Struct, frozen=True):
    """The content of the report.

    Attributes:
      manifest: see `goodgain.pipeline.comparison.document`.
      at_end: definitions of the metrics compared at N, the declared family first.
      by_i: definitions of the metrics shown by iteration.
      family: names of the declared family.
      pairs: the pairs of each metric.
      one_sided: the pool documents that only one arm found, by topic.
    """

    manifest: Mapping[str, Any]
    glossary: Glossary
    at_end: tuple[Definition, ...]
    by_i: tuple[Definition, ...]
    family: Sequence[str]
    slices: ComparedSlices
    pairs: Mapping[str, Pairs]
    costs: ArmCosts
    one_sided: Sequence[tuple[str, Any]]

    @property
    def declared(self) -> tuple[Definition, ...]:
        """The metrics of the declared family at N."""
        return tuple(one for one in self.at_end if one.metric.name in self.family)

    @property
    def further(self) -> tuple[Definition, ...]:
        """The other metrics at N."""
        return tuple(one for one in self.at_end if one.metric.name not in self.family)


def read_comparison(folder: str, manifest: Mapping[str, Any]) -> ComparisonFacts:
    """Read the outputs of a comparison.

    Raises:
      UsageError: some of its rows are missing.
    """
    family = manifest["declared_family"]
    shown = shown_rows(manifest)
    rows = map(shown.compared, read_dataset(folder, COMPARISON.name))
    slices = arrange(rows, family, manifest["request"]["correction"])
    everything = slices.shown[0]
    names = list(everything.at_end)
    by_i = {name for curves in everything.curves.values() for name in curves}
    words = glossary(
        [name for name in (*names, *sorted(by_i)) if name not in {**AT_END, **BY_ITERATION}],
        pooled=not OF_POOL.isdisjoint(names),
        own_ideal=not manifest["shared_judgments"],
    )
    by_name = words.by_name
    return ComparisonFacts(
        manifest=manifest,
        glossary=words,
        at_end=tuple(by_name[name] for name in _first(family, names)),
        by_i=tuple(one for one in words.by_iteration if one.metric.name in by_i),
        family=family,
        slices=slices,
        one_sided=one_sided(read_dataset(folder, POOL_DOCUMENTS.name)),
        pairs=pairs_by_metric(read_dataset(folder, DIFFERENCES.name), family),
        costs=arm_costs(map(shown.of_arm, read_dataset(folder, ARMS.name)), slices.shown),
    )


def shown_rows(manifest: Mapping[str, Any]) -> ShownRows:
    """How the report shows the rows of a comparison; in 0.1.0 it showed them as they are."""
    return ShownRows(WithoutLabels(**one) for one in manifest.get("without_labels", ()))


def _first(family: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names, those of the family first."""
    declared = [name for name in family if name in names]
    return list(dict.fromkeys((*declared, *names)))
